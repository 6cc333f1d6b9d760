import * as frame from '../frame/Root.tsx'
import { signMessages as en } from '../../locales/en/sign.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/sign.ts')).signMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/sign.ts')).signMessages)

/** Returns the messages that all pages share, and those about signing. */
export function useMessages() {
  return { ...frame.useMessages(), ...frame.usePageMessages({ en, de, ar }) }
}

/** Returns the same, with the language of the user. */
export function useLocale() {
  return { ...frame.useLocale(), words: useMessages() }
}
