import { usePageMessages } from '../../components/frame/Root.tsx'
import { ssoMessages as de } from '../../locales/de/pages/sign-in/sso.ts'
import { ssoMessages as en } from '../../locales/en/pages/sign-in/sso.ts'

/** Returns the messages of this page, in the language of the user. */
export function usePageWords() {
  return usePageMessages({ en, de })
}
