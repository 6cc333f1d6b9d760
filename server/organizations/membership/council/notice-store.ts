import { sql } from 'kysely'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'

/** Lists the verified e-mail addresses of these identities, without duplicates, and the name of the organization. */
export async function listEmails(db: Database, organizationId: OrganizationId, identityIds: string[]) {
  const { rows } = await sql<{ email: string; name: string }>`
    select distinct identity.email, organization.name
    from identity cross join organization
    where identity_id = any(${identityIds}::uuid[]) and email_verified and organization_id = ${organizationId}
    order by email`.execute(db)
  return rows
}

/** Lists the identities that get a mail about a reset: all signatories, also suspended ones, and the owners. */
export async function listSignatoriesAndOwners(db: Database, organizationId: OrganizationId): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity_id as "identityId" from organization_signatory where organization_id = ${organizationId}
    union
    select identity_id from organization_member where organization_id = ${organizationId} and role = 'owner'`.execute(
    db,
  )
  return rows.map(({ identityId }) => identityId)
}
