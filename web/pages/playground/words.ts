import { playgroundDe } from '../../locales/playground-de.ts'
import { playgroundEn } from '../../locales/playground-en.ts'
import { useSpeech } from '../../components/frame/Root.tsx'

const spoken = { en: playgroundEn, de: playgroundDe }

/** The words of the playground. They come with its page, and no other page has to carry them. */
export function usePlaygroundWords() {
  return spoken[useSpeech().language]
}
