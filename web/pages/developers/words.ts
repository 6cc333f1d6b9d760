import { useLocale as useSharedLocale, usePageMessages } from '../../components/frame/Root.tsx'
import { developerMessages as de } from '../../locales/de/pages/developers.ts'
import { developerMessages as en } from '../../locales/en/pages/developers.ts'

export type DeveloperWords = typeof en

/** Returns the messages of these pages, which no other page loads, together with those that all pages load. */
export function useMessages() {
  return useLocale().words
}

/** Returns the same messages, with their language. */
export function useLocale() {
  const locale = useSharedLocale()
  return { ...locale, words: { ...locale.words, ...usePageMessages({ en, de }) } }
}
