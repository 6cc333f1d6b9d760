import type { OrganizationContext } from '@countersign/protocol/organization-context'
import type { Database } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { readContext } from '#organizations/context.ts'
import type { Issued } from '#tokens/lineage.ts'

const refuse = refusals({
  invalid_grant: [400, 'This was given for an organization in which the person may not use it any more.'],
})

/** Of which identity something was given, and for which organization, if for one. */
type Given = { identityId: string; organizationId: string | null; ssoConnectionId: string | null }

/** What is told of the organization, where there is one. */
export type Told = { organization?: OrganizationContext }

/**
 * What is to be told of the organization that something was given for, as it is now: nothing where it was for none, and
 * undefined where it is worth nothing any more.
 */
export async function tellOrganization(db: Database, given: Given): Promise<Told | undefined> {
  const { identityId, organizationId, ssoConnectionId } = given
  if (organizationId === null) return {}
  const organization = await readContext(db, identityId, { organizationId, ssoConnectionId })
  return organization && { organization }
}

/** What a redemption has issued, with what is told of its organization. Refuses `invalid_grant`. */
export async function withOrganization(db: Database, issued: Issued): Promise<Issued & Told> {
  const told = await tellOrganization(db, issued.granted)
  if (!told) throw refuse.invalid_grant()
  return { ...issued, ...told }
}
