import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminAuditMessages as en } from '../../../locales/en/pages/admin/audit.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/admin/audit.ts')).adminAuditMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/admin/audit.ts')).adminAuditMessages)

/** The messages of this section. */
export function useAuditMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
