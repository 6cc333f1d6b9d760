import { sql } from 'kysely'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'

/** Lists the members who can sign or approve for an organization and have a signing key, grouped by user. */
export function listSignatoryRows(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_member')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .innerJoin('signing_key', (join) =>
      join.onRef('signing_key.identity_id', '=', 'organization_member.identity_id').on('replaced_at', 'is', null),
    )
    .select('identity.user_id as userId')
    .select([
      sql<boolean>`signing_authority and 'sign' = any(scopes)`.as('maySign'),
      sql<boolean>`'approve' = any(scopes)`.as('mayApprove'),
    ])
    .where('organization_id', '=', organizationId)
    .execute()
}
