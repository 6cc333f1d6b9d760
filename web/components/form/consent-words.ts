import { useMessages, usePageMessages } from '../frame/Root.tsx'
import { consentMessages as de } from '../../locales/de/pages/sign-in/consent.ts'
import { consentMessages as en } from '../../locales/en/pages/sign-in/consent.ts'

/** Returns the messages of a sign-in to an app, together with those that all pages load. */
export function useConsentMessages() {
  const shared = useMessages()
  const { signin, ...others } = usePageMessages({ en, de })
  return { ...shared, ...others, signin: { ...shared.signin, ...signin } }
}

export type ConsentMessages = ReturnType<typeof useConsentMessages>
