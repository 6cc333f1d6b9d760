import { usePageMessages } from '../../../components/frame/Root.tsx'
import { organizationActivityMessages as de } from '../../../locales/de/pages/organization-activity.ts'
import { organizationActivityMessages as en } from '../../../locales/en/pages/organization-activity.ts'

export type OrganizationActivityWords = typeof en

/** The messages about what happened in an organization. */
export function useOrganizationActivityMessages(): OrganizationActivityWords {
  return usePageMessages({ en, de })
}
