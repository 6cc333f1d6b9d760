import { usePageMessages } from '../../../components/frame/Root.tsx'
import { receiptMessages as en } from '../../../locales/en/pages/receipts.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/receipts.ts')).receiptMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/receipts.ts')).receiptMessages)

/** The messages about receipts, which few pages load. */
export function useReceiptMessages() {
  return usePageMessages({ en, de, ar })
}

/** The messages about the signatures of an account. */
export function useSigningMessages() {
  return useReceiptMessages().account
}
