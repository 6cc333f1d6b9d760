import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminSettingsMessages as en } from '../../../locales/en/pages/admin/service/settings.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/service/settings.ts')).adminSettingsMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/service/settings.ts')).adminSettingsMessages,
)

/** The messages of this section. */
export function useSettingsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
