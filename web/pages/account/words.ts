import { usePageMessages } from '../../components/frame/Root.tsx'
import { accountPageMessages as de } from '../../locales/de/pages/account.ts'
import { accountPageMessages as en } from '../../locales/en/pages/account.ts'

export type AccountWords = typeof en

/** Returns the messages that no other page loads. */
export function useAccountWords(): AccountWords {
  return usePageMessages({ en, de })
}
