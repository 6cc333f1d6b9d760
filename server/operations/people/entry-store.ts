import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { type RawBuilder, sql } from 'kysely'
import { ownDeletion, ownRecovery, ownSuspension } from './filter-store.ts'

/** Row of an identity in the operator's view. Instants are text if the row comes out of JSON. */
export type IdentityEntryRow = {
  identityId: IdentityId
  handle: string
  displayName: string
  avatarUrl: string | null
  email: string | null
  emailVerified: boolean
  createdAt: string
  lastSeenOn: string | null
  suspension: { reason: string; at: string } | null
  recovery: { reason: string; at: string } | null
  deletion: { reason: string; at: string; dueAt: string } | null
  groups: string[]
  organizations: { id: OrganizationId; name: string; role: string }[]
  isInvited: boolean
  managedBy: string
}

/**
 * Fields of the entry of an identity, from its row. The suspension is the one through this identity: `suspended_at` of
 * the identity would show whose account was suspended through another one.
 */
export function entryFields(now: Date): RawBuilder<unknown> {
  return sql`
    identity.identity_id as "identityId", handle, display_name as "displayName", avatar_url as "avatarUrl", email,
    email_verified as "emailVerified", identity.created_at as "createdAt", last_seen_on::text as "lastSeenOn",
    (
      select coalesce(jsonb_agg(
        jsonb_build_object('id', organization.organization_id, 'name', organization.name, 'role', member.role)
        order by organization.name, organization.organization_id
      ), '[]')
      from organization_member member join organization using (organization_id)
      where member.identity_id = identity.identity_id
    ) as organizations,
    array(
      select distinct key from group_member member join user_group using (group_id)
      where member.identity_id = identity.identity_id and deleted_at is null
      order by key
    ) as groups,
    (
      select jsonb_build_object('reason', own.reason, 'at', own.suspended_at) from ${ownSuspension(now)}
      order by own.source = 'operator' desc, own.suspended_at limit 1
    ) as suspension,
    (select jsonb_build_object('reason', reason, 'at', redeemed_at) from ${ownRecovery}) as recovery,
    (
      select jsonb_build_object('reason', reason, 'at', scheduled_at, 'dueAt', due_at) from ${ownDeletion}
    ) as deletion,
    false as "isInvited", coalesce(managed_by, 'self') as "managedBy"`
}

/** Fields of the entry of an invited identity, in the order of `entryFields`. */
export const invitedEntryFields = sql`
  identity.identity_id as "identityId", handle, display_name as "displayName", null::text as "avatarUrl", email,
  false as "emailVerified", identity.created_at as "createdAt", null::text as "lastSeenOn",
  '[]'::jsonb as organizations,
  array(
    select key from user_group where group_id = any(identity.group_ids) and deleted_at is null order by key
  ) as groups,
  null::jsonb as suspension, null::jsonb as recovery, null::jsonb as deletion, true as "isInvited",
  coalesce(managed_by, 'self') as "managedBy"`
