import { businessDe } from '../../locales/business-de.ts'
import { businessEn } from '../../locales/business-en.ts'
import { useSpeech } from '../../components/frame/Root.tsx'

export type BusinessWords = typeof businessEn

const spoken: Record<'en' | 'de', BusinessWords> = { en: businessEn, de: businessDe }

/** The words of these pages. They come with the page, and no other page has to carry them. */
export function useBusinessWords(): BusinessWords {
  return spoken[useSpeech().language]
}
