import type { IdentityStatus } from '@countersign/protocol/operations/people-search'
import type { OrganizationId } from '@countersign/protocol/ids'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'

/** Restrictions of a list. `domain` is a term: `@` and the folded domain. `lastSeenTo` is included. */
export type Filter = {
  domain?: string | undefined
  /** Key of a group. */
  group?: string | undefined
  organization?: OrganizationId | undefined
  status?: IdentityStatus | undefined
  /** `self`, or `scim:` and the ID of a token. */
  managedBy?: string | undefined
  createdFrom?: Date | undefined
  createdTo?: Date | undefined
  lastSeenFrom?: string | undefined
  lastSeenTo?: string | undefined
}

export type SmallSet =
  | 'group'
  | 'organization'
  | 'suspended'
  | 'recovering'
  | 'deletion_scheduled'
  | 'domain'
  | 'directory'

/**
 * A filter, the IDs of its group, the instant at which suspensions are in force, and whether the database is
 * distributed.
 */
export type Filtering = { filter: Filter; groupIds: RawBuilder<unknown>; now: Date; inShards: boolean }

/** Finds the IDs of the group with a key, of which there is one at most. */
export function findGroupIds(db: Database, key: string | undefined): Promise<RawBuilder<unknown>> {
  const group = db.selectFrom('user_group').select('group_id').where('deleted_at', 'is', null)
  return findKeys(db, group.where('key', '=', key ?? ''))
}

/** A table of identities: those of accounts, or invited ones. Statements call the rows of either `identity`. */
export type Source = 'identity' | 'invited_identity'

/** Returns the tables whose identities a filter may match. */
export function sourcesOf({ status, organization, lastSeenFrom, lastSeenTo }: Filter): Source[] {
  if (status === 'invited') return ['invited_identity']
  const isOfAccount = [status, organization, lastSeenFrom, lastSeenTo].some((restriction) => restriction !== undefined)
  return isOfAccount ? ['identity'] : ['identity', 'invited_identity']
}

/** Identities of a group, an organization or an e-mail domain, or those with a status that few have. */
export function setRows(set: SmallSet, source: Source, { filter, groupIds, now }: Filtering): RawBuilder<unknown> {
  switch (set) {
    case 'group':
      // In the order of the index: the database knows no size of the group, and might read all members of all groups.
      return source === 'identity'
        ? sql`
          select identity_id from (
            select identity_id from group_member_by_group
            where group_id = (select group_id from user_group where key = ${filter.group} and deleted_at is null)
            order by identity_id
          ) member`
        : sql`select identity_id from invited_identity where group_ids && ${groupIds}`
    case 'organization':
      return sql`select identity_id from organization_member where organization_id = ${filter.organization}`
    case 'suspended':
      // Each half is a range of the index by the end.
      return sql`
        select identity_id from account_suspension own where suspended_until is null and ${isOnly(now)}
        union all
        select identity_id from account_suspension own where suspended_until > ${now} and ${isOnly(now)}`
    case 'recovering':
      // Of these alone, a next step is due.
      return sql`select identity_id from recovery_link where attempt_at is not null`
    case 'deletion_scheduled':
      return sql`select identity_id from identity_deletion`
    case 'domain':
      return sql`select identity_id from identity_term where term = ${filter.domain}`
    case 'directory':
      return sql`select identity_id from scim_user where token_id = substr(${filter.managedBy}, 6)::uuid`
  }
}

/** Condition on a suspension: it is of operators, or these do not suspend the identity that a directory suspends. */
function isOnly(now: Date): RawBuilder<unknown> {
  return sql`(source = 'operator' or not exists (
    select from account_suspension other
    where other.user_id = own.user_id and other.identity_id = own.identity_id and other.source = 'operator'
      and (other.suspended_until is null or other.suspended_until > ${now})
  ))`
}

/** Restriction that the rows of a list meet by their order or their set. */
export type Met = 'created' | 'lastSeen' | SmallSet

/** Conditions of a filter on a row of a table, without those that the rows of a list meet anyway. */
export function conditionsOf(
  { filter, groupIds, now, inShards }: Filtering,
  source: Source,
  without: readonly Met[] = [],
): RawBuilder<unknown>[] {
  const { domain, group, managedBy } = filter
  const conditions = without.includes('created') ? [] : createdWithin(filter)
  if (domain && !without.includes('domain'))
    conditions.push(inShards && source === 'invited_identity' ? isInvitedOf(domain) : isOf(domain))
  if (group !== undefined && !without.includes('group'))
    conditions.push(
      source === 'invited_identity'
        ? sql`group_ids && ${groupIds}`
        : exists(sql`
          group_member member join user_group using (group_id)
          where member.identity_id = identity.identity_id and key = ${group} and deleted_at is null`),
    )
  if (managedBy === 'self') conditions.push(sql`identity.managed_by is null`)
  else if (managedBy && !without.includes('directory')) conditions.push(sql`identity.managed_by = ${managedBy}`)
  const own = source === 'identity' ? accountConditionsOf(filter, now, without) : invitedConditionsOf(filter)
  return [...conditions, ...own]
}

/** Condition that an identity has a term. */
export function isOf(term: string, identityId = sql`identity.identity_id`): RawBuilder<unknown> {
  return exists(sql`identity_term own where own.term = ${term} and own.identity_id = ${identityId}`)
}

/** The same for an invited identity in a distributed database, which has its terms elsewhere and reads them first. */
function isInvitedOf(term: string): RawBuilder<unknown> {
  return sql`identity.identity_id in (
    select identity_id from identity_term join invited_identity using (identity_id) where term = ${term} offset 0
  )`
}

/** An invited identity was never seen, and is in no organization. */
function invitedConditionsOf({ organization, lastSeenFrom, lastSeenTo }: Filter): RawBuilder<unknown>[] {
  return [organization, lastSeenFrom, lastSeenTo].some((restriction) => restriction !== undefined) ? [sql`false`] : []
}

function accountConditionsOf(filter: Filter, now: Date, without: readonly Met[]): RawBuilder<unknown>[] {
  const { organization, status } = filter
  const conditions = without.includes('lastSeen') ? [] : seenWithin(filter, sql`identity.last_seen_on`)
  if (organization && !without.includes('organization'))
    conditions.push(
      exists(sql`
        organization_member member
        where member.organization_id = ${organization} and member.identity_id = identity.identity_id`),
    )
  if (status !== undefined && status !== 'deletion_scheduled') conditions.push(sql`not ${exists(ownDeletion)}`)
  if (status === 'active' || status === 'recovering') conditions.push(sql`not ${exists(ownSuspension(now))}`)
  if (status === 'active') conditions.push(sql`not ${exists(ownRecovery)}`)
  if (status === 'recovering' && !without.includes(status)) conditions.push(exists(ownRecovery))
  if (status === 'suspended' && !without.includes('suspended')) conditions.push(exists(ownSuspension(now)))
  if (status === 'deletion_scheduled' && !without.includes(status)) conditions.push(exists(ownDeletion))
  return conditions
}

export function createdWithin({ createdFrom, createdTo }: Filter): RawBuilder<unknown>[] {
  return [
    ...(createdFrom ? [sql`identity.created_at >= ${createdFrom}`] : []),
    ...(createdTo ? [sql`identity.created_at < ${createdTo}`] : []),
  ]
}

/** An identity that was never seen is not within any days. */
export function seenWithin({ lastSeenFrom, lastSeenTo }: Filter, key: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    ...(lastSeenFrom ? [sql`${key} >= ${lastSeenFrom}::date`] : []),
    ...(lastSeenTo ? [sql`${key} <= ${lastSeenTo}::date`, sql`${key} > date '-infinity'`] : []),
  ]
}

/** Scheduled deletion of the identity of a row. */
export const ownDeletion = sql`
  identity_deletion scheduled
  where scheduled.user_id = identity.user_id and scheduled.identity_id = identity.identity_id`

/** Recovery of the identity of a row: a new passkey waits for its time, or can still be undone. */
export const ownRecovery = sql`
  recovery_link own
  where own.identity_id = identity.identity_id and own.state in ('redeemed', 'completed')`

/** Suspensions through the identity of a row that are in force: by operators and by a directory. */
export function ownSuspension(now: Date): RawBuilder<unknown> {
  return sql`
    account_suspension own where own.user_id = identity.user_id and own.identity_id = identity.identity_id
      and (own.suspended_until is null or own.suspended_until > ${now})`
}

/** A condition that is looked up for each row. For `exists` the database may read all of the other table first. */
export function exists(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce((select true from ${rows} limit 1), false)`
}

export function allOf(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}
