import { usePageMessages } from '../../../components/frame/Root.tsx'
import { documentMessages as de } from '../../../locales/de/pages/documents.ts'
import { documentMessages as en } from '../../../locales/en/pages/documents.ts'

/** The messages about documents, which no other section loads. */
export function useDocumentMessages() {
  return usePageMessages({ en, de })
}
