import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminOperatorsMessages as en } from '../../../locales/en/pages/admin/operators.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/operators.ts')).adminOperatorsMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/operators.ts')).adminOperatorsMessages,
)

/** The messages of this section. */
export function useOperatorsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
