import { developerDe } from '../../locales/developer-de.ts'
import { developerEn } from '../../locales/developer-en.ts'
import { useSpeech as useCommonSpeech } from '../../components/frame/Root.tsx'

export type DeveloperWords = typeof developerEn

const spoken: Record<'en' | 'de', DeveloperWords> = { en: developerEn, de: developerDe }

/** The words of these pages beside those of all. They come with the page, and no other page has to carry them. */
export function useWords() {
  return useSpeech().words
}

/** The same, with the language that they are of. */
export function useSpeech() {
  const speech = useCommonSpeech()
  return { ...speech, words: { ...speech.words, ...spoken[speech.language] } }
}
