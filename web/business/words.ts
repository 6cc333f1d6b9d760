import { businessDe } from '../messages/business-de.ts'
import { businessEn } from '../messages/business-en.ts'
import { useSpeech } from '../ui/Root.tsx'

export type BusinessWords = typeof businessEn

const spoken: Record<'en' | 'de', BusinessWords> = { en: businessEn, de: businessDe }

/** The words of these pages. They come with the page, and no other page has to carry them. */
export function useBusinessWords(): BusinessWords {
  return spoken[useSpeech().language]
}
