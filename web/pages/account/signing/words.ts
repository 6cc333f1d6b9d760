import { usePageMessages } from '../../../components/frame/Root.tsx'
import { receiptMessages as de } from '../../../locales/de/pages/receipts.ts'
import { receiptMessages as en } from '../../../locales/en/pages/receipts.ts'

/** The messages about receipts, which few pages load. */
export function useReceiptMessages() {
  return usePageMessages({ en, de })
}

/** The messages about the signatures of an account. */
export function useSigningMessages() {
  return useReceiptMessages().account
}
