import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminAppsMessages as en } from '../../../locales/en/pages/admin/apps.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts('de', async () => (await import('../../../locales/de/pages/admin/apps.ts')).adminAppsMessages)
const ar = lateTexts('ar', async () => (await import('../../../locales/ar/pages/admin/apps.ts')).adminAppsMessages)

/** The messages of this section. */
export function useAppsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
