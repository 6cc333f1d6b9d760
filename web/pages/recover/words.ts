import { usePageMessages } from '../../components/frame/Root.tsx'
import { recoverMessages as de } from '../../locales/de/pages/sign-in/recover.ts'
import { recoverMessages as en } from '../../locales/en/pages/sign-in/recover.ts'

/** Returns the messages of this page, in the language of the user. */
export function usePageWords() {
  return usePageMessages({ en, de })
}
