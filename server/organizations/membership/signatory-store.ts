import { sql } from 'kysely'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'

/**
 * SQL condition: the organization has no council, or its council has admitted the identity of `organization_member` for
 * a role.
 */
const isAdmittedFor = (role: 'sign' | 'approve') => sql<boolean>`(
  exists (
    select from organization_signatory signatory
    where signatory.organization_id = organization_member.organization_id
      and signatory.identity_id = organization_member.identity_id and suspended_at is null
      and ${sql.ref(role === 'sign' ? 'may_sign' : 'may_approve')}
  ) or exists (
    select from organization
    where organization.organization_id = organization_member.organization_id and approvals_needed = 0
  )
)`

/** SQL condition: a member may sign or approve, by their permissions and by the council, if there is one. */
const mayAnswerAs = (role: 'sign' | 'approve') =>
  role === 'sign'
    ? sql<boolean>`(signing_authority and 'sign' = any(scopes) and ${isAdmittedFor(role)})`
    : sql<boolean>`('approve' = any(scopes) and ${isAdmittedFor(role)})`

/** Lists the members who can sign or approve for an organization and have a signing key, grouped by user. */
export function listSignatoryRows(db: Database, organizationId: OrganizationId) {
  return db
    .selectFrom('organization_member')
    .innerJoin('identity', 'identity.identity_id', 'organization_member.identity_id')
    .innerJoin('signing_key', (join) =>
      join.onRef('signing_key.identity_id', '=', 'organization_member.identity_id').on('replaced_at', 'is', null),
    )
    .select('identity.user_id as userId')
    .select([mayAnswerAs('sign').as('maySign'), mayAnswerAs('approve').as('mayApprove')])
    .where('organization_id', '=', organizationId)
    .execute()
}
