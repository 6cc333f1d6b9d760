import { usePageMessages } from '../../components/frame/Root.tsx'
import { errorMessages as de } from '../../locales/de/pages/sign-in/error.ts'
import { errorMessages as en } from '../../locales/en/pages/sign-in/error.ts'

/** Returns the messages of this page, in the language of the user. */
export function usePageWords() {
  return usePageMessages({ en, de })
}
