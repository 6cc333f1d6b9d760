import { usePageMessages } from '../../components/frame/Root.tsx'
import { receiptMessages as de } from '../../locales/de/pages/receipts.ts'
import { receiptMessages as en } from '../../locales/en/pages/receipts.ts'

/** The messages about receipts, which few pages load. */
export function useReceiptMessages() {
  return usePageMessages({ en, de })
}
