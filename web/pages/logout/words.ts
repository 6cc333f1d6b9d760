import { usePageMessages } from '../../components/frame/Root.tsx'
import { logoutMessages as de } from '../../locales/de/pages/sign-in/logout.ts'
import { logoutMessages as en } from '../../locales/en/pages/sign-in/logout.ts'

/** Returns the messages of this page, in the language of the user. */
export function usePageWords() {
  return usePageMessages({ en, de })
}
