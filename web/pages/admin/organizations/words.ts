import { usePageMessages } from '../../../components/frame/Root.tsx'
import { adminOrganizationsMessages as en } from '../../../locales/en/pages/admin/organizations.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const de = lateTexts(
  'de',
  async () => (await import('../../../locales/de/pages/admin/organizations.ts')).adminOrganizationsMessages,
)
const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/admin/organizations.ts')).adminOrganizationsMessages,
)

/** The messages of this section. */
export function useOrganizationsMessages(): typeof en {
  return usePageMessages({ en, de, ar })
}
