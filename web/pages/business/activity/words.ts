import { usePageMessages } from '../../../components/frame/Root.tsx'
import { organizationActivityMessages as de } from '../../../locales/de/pages/organizations/activity.ts'
import { organizationActivityMessages as en } from '../../../locales/en/pages/organizations/activity.ts'
import { lateTexts } from '../../../locales/late-texts.ts'

const ar = lateTexts(
  'ar',
  async () => (await import('../../../locales/ar/pages/organizations/activity.ts')).organizationActivityMessages,
)

export type OrganizationActivityWords = typeof en

/** The messages about what happened in an organization. */
export function useOrganizationActivityMessages(): OrganizationActivityWords {
  return usePageMessages({ en, de, ar })
}
