import { useActivityMessages } from '../../components/display/activity-words.ts'
import * as frame from '../../components/frame/Root.tsx'
import { accountMessages as enSections } from '../../locales/en/account.ts'
import { accountPageMessages as en } from '../../locales/en/pages/account.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/account.ts')).accountPageMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/account.ts')).accountPageMessages)
const deSections = lateTexts('de', async () => (await import('../../locales/de/account.ts')).accountMessages)
const arSections = lateTexts('ar', async () => (await import('../../locales/ar/account.ts')).accountMessages)

export type AccountWords = typeof en

/** Returns the messages that no other page loads. */
export function useAccountWords(): AccountWords {
  return frame.usePageMessages({ en, de, ar })
}

/** Returns the messages that all pages share, and those of the sections and of the activity. */
export function useMessages() {
  const sections = frame.usePageMessages({ en: enSections, de: deSections, ar: arSections })
  return { ...frame.useMessages(), ...useActivityMessages(), ...sections }
}

/** Returns the same, with the language of the user. */
export function useLocale() {
  return { ...frame.useLocale(), words: useMessages() }
}
