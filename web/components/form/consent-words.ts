import { useMessages, usePageMessages } from '../frame/Root.tsx'
import { consentMessages as en } from '../../locales/en/pages/sign-in/consent.ts'
import { lateTexts } from '../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../locales/de/pages/sign-in/consent.ts')).consentMessages)
const ar = lateTexts('ar', async () => (await import('../../locales/ar/pages/sign-in/consent.ts')).consentMessages)

/** Returns the messages of a sign-in to an app, together with those that all pages load. */
export function useConsentMessages() {
  const shared = useMessages()
  const { signin, ...others } = usePageMessages({ en, de, ar })
  return { ...shared, ...others, signin: { ...shared.signin, ...signin } }
}

export type ConsentMessages = ReturnType<typeof useConsentMessages>
