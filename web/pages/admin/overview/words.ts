import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminOverviewMessages as en } from '../../../locales/en/pages/admin/overview.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/overview.ts')).adminOverviewMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/overview.ts')).adminOverviewMessages,
)

/** The messages of this section. */
export function useOverviewMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
