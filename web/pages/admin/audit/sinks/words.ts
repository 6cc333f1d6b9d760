import { usePageMessages } from '../../../../components/frame/Root.tsx'
import { adminSinksMessages as en } from '../../../../locales/en/pages/admin/receivers/sinks.ts'
import { lateTexts } from '../../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../../locales/de/pages/admin/receivers/sinks.ts')).adminSinksMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../../locales/ar/pages/admin/receivers/sinks.ts')).adminSinksMessages,
)

/** The messages of this section. */
export function useSinksMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
