import type { IdentityOrder, IdentityStatus } from '@countersign/protocol/operations/people-search'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import type { Position } from './cursor.ts'

/** Restrictions of a list. `domain` is a term: `@` and the folded domain. `lastSeenTo` is included. */
export type Filter = {
  domain?: string | undefined
  /** Key of a group. */
  group?: string | undefined
  organization?: OrganizationId | undefined
  status?: IdentityStatus | undefined
  createdFrom?: Date | undefined
  createdTo?: Date | undefined
  lastSeenFrom?: string | undefined
  lastSeenTo?: string | undefined
}

/** What a list begins from: the words of a search, longest first, one identity, a small set, or the order alone. */
export type Driver = { words: string[] } | { identityId: IdentityId } | { set: SmallSet } | 'order'
export type SmallSet = 'group' | 'organization' | 'suspended' | 'recovering' | 'deletion_scheduled' | 'domain'

export type Listing = {
  filter: Filter
  order: IdentityOrder
  driver: Driver
  after: Position | undefined
  /** Rows that a page may read for one condition. Each further condition looks up as many rows of its own. */
  rowsMax: number
  /** Identities of a page. */
  size: number
  /** Instant at which suspensions are in force. */
  now: Date
}

type Row = {
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
}
export type IdentityEntryRow = Row

/** Rows of a page in order, one more than its size if there are. `stop`: the last row that was read. */
export type ListedPage = {
  rows: (Row & { key: string })[]
  matches: number
  stop: Position | null
  isExhausted: boolean
}

type Order = { key: RawBuilder<unknown>; type: RawBuilder<unknown>; isDescending: boolean }

const created = { key: sql`identity.created_at`, type: sql`timestamptz` }
const orders: Record<IdentityOrder, Order> = {
  '-createdAt': { ...created, isDescending: true },
  createdAt: { ...created, isDescending: false },
  handle: { key: sql`lower(identity.handle) collate "C"`, type: sql`text`, isDescending: false },
  '-lastSeenOn': {
    key: sql`coalesce(identity.last_seen_on, date '-infinity')`,
    type: sql`date`,
    isDescending: true,
  },
}

/**
 * Fields of the entry of an identity, from its row. The suspension is the one through this identity: `suspended_at` of
 * the identity would show whose account was suspended through another one.
 */
export const entryFields = (now: Date) => sql`
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
  (select jsonb_build_object('reason', own.reason, 'at', own.suspended_at) from ${ownSuspension(now)}) as suspension,
  (select jsonb_build_object('reason', reason, 'at', redeemed_at) from ${ownRecovery}) as recovery,
  (
    select jsonb_build_object('reason', reason, 'at', scheduled_at, 'dueAt', due_at) from ${ownDeletion}
  ) as deletion`

/** Scheduled deletion of the identity of a row. */
const ownDeletion = sql`
  identity_deletion scheduled
  where scheduled.user_id = identity.user_id and scheduled.identity_id = identity.identity_id`

/** Recovery of the identity of a row: a new passkey waits for its time, or can still be undone. */
const ownRecovery = sql`
  recovery_link own
  where own.identity_id = identity.identity_id and own.state in ('redeemed', 'completed')`

/** Suspension through the identity of a row that is in force. */
function ownSuspension(now: Date): RawBuilder<unknown> {
  return sql`
    account_suspension own where own.user_id = identity.user_id and own.identity_id = identity.identity_id
      and (own.suspended_until is null or own.suspended_until > ${now})`
}

/**
 * Lists a page in one statement. It reads a limited number of rows in the order of the list, and keeps those that the
 * filter matches: a filter that few identities match ends the page early.
 */
export async function listPage(db: Database, listing: Listing): Promise<ListedPage> {
  const { driver, size } = listing
  const conditions = conditionCountOf(listing)
  const rowsMax = conditions > 0 ? Math.ceil(listing.rowsMax / conditions) : size + 1
  const read = isSearch(driver) ? termRows(listing, driver.words) : orderedRows(listing)
  const { rows } = await sql<{ rows: ListedPage['rows']; matches: number; read: number; stop: Position | null }>`
    with read as materialized (
      select *, row_number() over () as nth from (${read} limit ${sql.lit(rowsMax)}) ordered
    ), page as materialized (
      select * from read where is_match order by nth limit ${sql.lit(size + 1)}
    )
    select
      (select count(*)::integer from read) as read,
      (select count(*)::integer from read where is_match) as matches,
      (select jsonb_build_object('key', key, 'identityId', identity_id) from read order by nth desc limit 1) as stop,
      (
        select coalesce(jsonb_agg(entry order by nth), '[]') from (
          select page.nth, page.key, ${entryFields(listing.now)}
          from page join identity on identity.identity_id = page.identity_id
        ) entry
      ) as rows`.execute(db)
  const [page] = rows
  if (!page) throw new Error('the statement of a list has one row')
  return { rows: page.rows, matches: page.matches, stop: page.stop, isExhausted: page.read < rowsMax }
}

/** Tells if rows that a list reads may not be in it. */
export function isRestricted(listing: Listing): boolean {
  return conditionCountOf(listing) > 0
}

function conditionCountOf(listing: Listing): number {
  const { driver } = listing
  return isSearch(driver) ? driver.words.length + conditionsOf(listing).length : restrictionsOf(listing).length
}

function isSearch(driver: Driver): driver is { words: string[] } {
  return typeof driver === 'object' && 'words' in driver
}

/** Rows of the range of the longest word, in the order of the terms. An identity matches in the first of its rows. */
function termRows(listing: Listing, [longest = '', ...others]: string[]): RawBuilder<unknown> {
  const isFirst = sql`not ${exists(sql`
    identity_term earlier where earlier.identity_id = found.identity_id
      and ${startsWith(sql`earlier.term`, longest)} and earlier.term < found.term`)}`
  const hasWord = (word: string) =>
    exists(sql`
      identity_term other where other.identity_id = found.identity_id and ${startsWith(sql`other.term`, word)}`)
  const { after } = listing
  const conditions = conditionsOf(listing)
  const matches = [isFirst, ...others.map(hasWord), ...conditions]
  const joined = sql`join identity on identity.identity_id = found.identity_id`
  const later = after
    ? sql`and (found.term, found.identity_id) > (${after.key}::text collate "C", ${after.identityId}::uuid)`
    : sql``
  return sql`
    select found.identity_id, found.term as key, ${allOf(matches)} as is_match
    from identity_term found ${conditions.length > 0 ? joined : sql``}
    where ${startsWith(sql`found.term`, longest)} ${later}
    order by found.term, found.identity_id`
}

/** Condition that a term begins with a word, as a range of the index: a word is never a pattern. */
function startsWith(term: RawBuilder<unknown>, word: string): RawBuilder<unknown> {
  return sql`${term} >= ${word}::text and ${term} < ${`${word}\u{10FFFF}`}::text`
}

/** Identities in the order of the list: all, those of a small set, or one. */
function orderedRows(listing: Listing): RawBuilder<unknown> {
  const { driver, after, order } = listing
  const { key, type, isDescending } = orders[order]
  const compare = isDescending ? sql`<` : sql`>`
  const direction = isDescending ? sql`desc` : sql`asc`
  const bounds = boundsOf(listing)
  if (typeof driver === 'object' && 'identityId' in driver)
    bounds.push(sql`identity.identity_id = ${driver.identityId}`)
  if (after)
    bounds.push(sql`(${key}, identity.identity_id) ${compare} (${after.key}::${type}, ${after.identityId}::uuid)`)
  return sql`
    select identity.identity_id, (${key})::text as key, ${allOf(restrictionsOf(listing))} as is_match
    from ${sourceOf(listing)}
    where ${allOf(bounds)}
    order by ${key} ${direction}, identity.identity_id ${direction}`
}

function sourceOf({ driver, ...limited }: Pick<Listing, 'driver' | 'filter' | 'now'>): RawBuilder<unknown> {
  if (typeof driver !== 'object' || !('set' in driver)) return sql`identity`
  return sql`(${setRows(driver.set, limited)} offset 0) small join identity on identity.identity_id = small.identity_id`
}

/** Identities of a group, an organization or an e-mail domain, or those with a status that few have. */
function setRows(set: SmallSet, { filter, now }: Pick<Listing, 'filter' | 'now'>): RawBuilder<unknown> {
  switch (set) {
    case 'group':
      return sql`
        select identity_id from group_member_by_group join user_group using (group_id)
        where key = ${filter.group} and deleted_at is null`
    case 'organization':
      return sql`select identity_id from organization_member where organization_id = ${filter.organization}`
    case 'suspended':
      // Each half is a range of the index by the end.
      return sql`
        select identity_id from account_suspension where suspended_until is null
        union all select identity_id from account_suspension where suspended_until > ${now}`
    case 'recovering':
      // Of these alone, a next step is due.
      return sql`select identity_id from recovery_link where attempt_at is not null`
    case 'deletion_scheduled':
      return sql`select identity_id from identity_deletion`
    case 'domain':
      return sql`select identity_id from identity_term where term = ${filter.domain}`
  }
}

/** Tells if a set is small enough to read all of it for a page. */
export async function isSmallSet(
  db: Database,
  set: SmallSet,
  { rowsMax, ...limited }: Pick<Listing, 'filter' | 'now' | 'rowsMax'>,
): Promise<boolean> {
  return (await countUpTo(db, setRows(set, limited), rowsMax + 1)) <= rowsMax
}

/** Counts the identities within the bounds of a list without other restrictions, up to `most`. */
export function countBounded(db: Database, listing: Listing, most: number): Promise<number> {
  return countUpTo(db, sql`select from ${sourceOf(listing)} where ${allOf(boundsOf(listing))}`, most)
}

async function countUpTo(db: Database, counted: RawBuilder<unknown>, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from (${counted} limit ${sql.lit(most)}) counted`.execute(db)
  return rows[0]?.count ?? 0
}

type Key = 'created' | 'lastSeen' | SmallSet

/** Conditions of a filter on the row of an identity, without those that the rows of a list meet anyway. */
function conditionsOf(
  { filter, now }: Pick<Listing, 'filter' | 'now'>,
  without: readonly Key[] = [],
): RawBuilder<unknown>[] {
  const { domain, group, organization, status } = filter
  const conditions = [
    ...(without.includes('created') ? [] : createdWithin(filter)),
    ...(without.includes('lastSeen') ? [] : seenWithin(filter, sql`identity.last_seen_on`)),
  ]
  if (group !== undefined && !without.includes('group'))
    conditions.push(
      exists(sql`
        group_member member join user_group using (group_id)
        where member.identity_id = identity.identity_id and key = ${group} and deleted_at is null`),
    )
  if (organization && !without.includes('organization'))
    conditions.push(
      exists(sql`
        organization_member member
        where member.organization_id = ${organization} and member.identity_id = identity.identity_id`),
    )
  if (domain && !without.includes('domain'))
    conditions.push(
      exists(sql`identity_term own where own.term = ${domain} and own.identity_id = identity.identity_id`),
    )
  if (status !== undefined && status !== 'deletion_scheduled') conditions.push(sql`not ${exists(ownDeletion)}`)
  if (status === 'active' || status === 'recovering') conditions.push(sql`not ${exists(ownSuspension(now))}`)
  if (status === 'active') conditions.push(sql`not ${exists(ownRecovery)}`)
  if (status === 'recovering' && !without.includes(status)) conditions.push(exists(ownRecovery))
  if (status === 'suspended' && !without.includes('suspended')) conditions.push(exists(ownSuspension(now)))
  if (status === 'deletion_scheduled' && !without.includes(status)) conditions.push(exists(ownDeletion))
  return conditions
}

/** Conditions that rows in the order of a list may fail. */
function restrictionsOf({ order, driver, ...limited }: Listing): RawBuilder<unknown>[] {
  const set: Key[] = typeof driver === 'object' && 'set' in driver ? [driver.set] : []
  return conditionsOf(
    limited,
    [orderedBy(order), ...set].filter((key) => key !== undefined),
  )
}

/** Conditions on the key of the order: they limit which part of its index is read. */
function boundsOf({ filter, order }: Listing): RawBuilder<unknown>[] {
  const key = orderedBy(order)
  if (key === 'created') return createdWithin(filter)
  return key === 'lastSeen' ? seenWithin(filter, orders['-lastSeenOn'].key) : []
}

function orderedBy(order: IdentityOrder): 'created' | 'lastSeen' | undefined {
  if (order === 'handle') return undefined
  return order === '-lastSeenOn' ? 'lastSeen' : 'created'
}

function createdWithin({ createdFrom, createdTo }: Filter): RawBuilder<unknown>[] {
  return [
    ...(createdFrom ? [sql`identity.created_at >= ${createdFrom}`] : []),
    ...(createdTo ? [sql`identity.created_at < ${createdTo}`] : []),
  ]
}

/** Who was never seen is not within any days. */
function seenWithin({ lastSeenFrom, lastSeenTo }: Filter, key: RawBuilder<unknown>): RawBuilder<unknown>[] {
  return [
    ...(lastSeenFrom ? [sql`${key} >= ${lastSeenFrom}::date`] : []),
    ...(lastSeenTo ? [sql`${key} <= ${lastSeenTo}::date`, sql`${key} > date '-infinity'`] : []),
  ]
}

/** A condition that is looked up for each row. For `exists` the database may read all of the other table first. */
function exists(rows: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`coalesce((select true from ${rows} limit 1), false)`
}

function allOf(conditions: RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}
