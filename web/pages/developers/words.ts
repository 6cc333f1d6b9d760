import { useLocale as useSharedLocale, usePageMessages } from '../../components/frame/Root.tsx'
import { developerMessages as en } from '../../locales/en/pages/developers.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/developers.ts')).developerMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/developers.ts')).developerMessages)

export type DeveloperWords = typeof en

/** Returns the messages of these pages, which no other page loads, together with those that all pages load. */
export function useMessages() {
  return useLocale().words
}

/** Returns the same messages, with their language. */
export function useLocale() {
  const locale = useSharedLocale()
  return { ...locale, words: { ...locale.words, ...usePageMessages({ en, de, ar }) } }
}
