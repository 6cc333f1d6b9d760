import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { slugPattern } from '@countersign/protocol/formats/slug'
import type { OrganizationChange, OwnOrganization } from '@countersign/protocol/organizations/organizations'

/** How an organization is described, as somebody writes it; no logo is an empty line. */
export type Draft = { name: string; slug: string; logoUrl: string }

export function draftOf({ name, slug, logoUrl }: OwnOrganization): Draft {
  return { name, slug, logoUrl: logoUrl ?? '' }
}

export function faultsOf({ name, slug, logoUrl }: Draft): Set<keyof Draft> {
  const faults = new Set<keyof Draft>()
  if (!isDisplayName(name)) faults.add('name')
  if (!new RegExp(slugPattern).test(slug)) faults.add('slug')
  if (logoUrl !== '' && URL.parse(logoUrl)?.protocol !== 'https:') faults.add('logoUrl')
  return faults
}

/** What a draft changes of an organization. */
export function changeOf(organization: OwnOrganization, { name, slug, logoUrl }: Draft): OrganizationChange {
  return {
    ...(name !== organization.name && { name }),
    ...(slug !== organization.slug && { slug }),
    ...(logoUrl !== (organization.logoUrl ?? '') && { logoUrl: logoUrl === '' ? null : logoUrl }),
  }
}
