import { usePageMessages } from '../../../components/frame/Root.tsx'
import { overviewMessages as de } from '../../../locales/de/pages/organizations/overview.ts'
import { overviewMessages as en } from '../../../locales/en/pages/organizations/overview.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/organizations/overview.ts')).overviewMessages,
)

/** The messages of the overview, which no other section loads. */
export function useOverviewMessages() {
  return usePageMessages({ en, de, ar })
}
