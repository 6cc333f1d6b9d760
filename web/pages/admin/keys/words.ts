import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminKeysMessages as en } from '../../../locales/en/pages/admin/service/keys.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/service/keys.ts')).adminKeysMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/service/keys.ts')).adminKeysMessages,
)

/** The messages of this section. */
export function useKeysMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
