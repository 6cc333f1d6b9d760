import { usePageMessages } from '../../../components/frame/Root.tsx'
import { documentMessages as en } from '../../../locales/en/pages/documents.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/documents.ts')).documentMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/documents.ts')).documentMessages)

/** The messages about documents, which no other section loads. */
export function useDocumentMessages() {
  return usePageMessages({ en, de, ar })
}
