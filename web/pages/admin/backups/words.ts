import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminBackupsMessages as en } from '../../../locales/en/pages/admin/service/backups.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/service/backups.ts')).adminBackupsMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/service/backups.ts')).adminBackupsMessages,
)

/** The messages of this section. */
export function useBackupsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
