import type { IdentityOrder } from '@countersign/protocol/operations/people-search'
import type { IdentityId } from '@countersign/protocol/ids'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import type { Position } from './cursor.ts'
import { entryFields, type IdentityEntryRow, invitedEntryFields } from './entry-store.ts'
import {
  allOf,
  conditionsOf,
  createdWithin,
  exists,
  isOf,
  type Filtering,
  type Met,
  seenWithin,
  setRows,
  type SmallSet,
  type Source,
  sourcesOf,
} from './filter-store.ts'

/** What a list begins from: the words of a search, longest first, one identity, a small set, or the order alone. */
export type Driver = { words: string[] } | { identityId: IdentityId } | { set: SmallSet } | 'order'

export type Listing = Filtering & {
  order: IdentityOrder
  driver: Driver
  after: Position | undefined
  /** Rows that a page may read for one condition. Each further condition looks up as many rows of its own. */
  rowsMax: number
  /** Identities of a page. */
  size: number
}

/** Rows of a page in order, one more than its size if there are. `stop`: the last row that was read. */
export type ListedPage = {
  rows: (IdentityEntryRow & { key: string })[]
  matches: number
  stop: Position | null
  isExhausted: boolean
}

type Order = { key: RawBuilder<unknown>; type: RawBuilder<unknown>; isDescending: boolean }

const neverSeen = sql`date '-infinity'`
const created = { key: sql`identity.created_at`, type: sql`timestamptz` }
const orders: Record<IdentityOrder, Order> = {
  '-createdAt': { ...created, isDescending: true },
  createdAt: { ...created, isDescending: false },
  handle: { key: sql`lower(identity.handle) collate "C"`, type: sql`text`, isDescending: false },
  '-lastSeenOn': { key: sql`coalesce(identity.last_seen_on, ${neverSeen})`, type: sql`date`, isDescending: true },
}

/**
 * Lists a page in one statement. It reads a limited number of rows in the order of the list, and keeps those that the
 * filter matches: a filter that few identities match ends the page early.
 */
export async function listPage(db: Database, listing: Listing): Promise<ListedPage> {
  const { driver, size } = listing
  const conditions = conditionCountOf(listing)
  const rowsMax = conditions > 0 ? Math.ceil(listing.rowsMax / conditions) : size + 1
  const read = isSearch(driver) ? termRows(listing, driver.words) : orderedRows(listing, rowsMax)
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
          union all
          select page.nth, page.key, ${invitedEntryFields}
          from page join invited_identity identity on identity.identity_id = page.identity_id
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
  const { driver, filter } = listing
  const words = isSearch(driver) ? driver.words.length : 0
  const counts = sourcesOf(filter).map((source) => restrictionsOf(listing, source).length)
  return words + Math.max(...counts)
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
  const { after, filter } = listing
  const isOfDomain = filter.domain === undefined ? [] : [isOf(filter.domain, sql`found.identity_id`)]
  const matches = [isFirst, ...others.map(hasWord), ...isOfDomain, ...matchOf(listing)]
  const later = after
    ? sql`and (found.term, found.identity_id) > (${after.key}::text collate "C", ${after.identityId}::uuid)`
    : sql``
  return sql`
    select found.identity_id, found.term as key, ${allOf(matches)} as is_match
    from identity_term found
    where ${startsWith(sql`found.term`, longest)} ${later}
    order by found.term, found.identity_id`
}

/**
 * Condition that the identity of a found term matches the filter except for the domain, in one of the tables. None if
 * each of both does.
 */
function matchOf(listing: Listing): RawBuilder<unknown>[] {
  const sources = sourcesOf(listing.filter)
  const conditions = sources.map((source) => conditionsOf(listing, source, ['domain']))
  if (sources.length > 1 && conditions.every(({ length }) => length === 0)) return []
  const matches = sources.map((source, nth) =>
    exists(sql`
      ${sql.table(source)} identity
      where identity.identity_id = found.identity_id and ${allOf(conditions[nth] ?? [])}`),
  )
  return [sql`(${sql.join(matches, sql` or `)})`]
}

/** Condition that a term begins with a word, as a range of the index: a word is never a pattern. */
function startsWith(term: RawBuilder<unknown>, word: string): RawBuilder<unknown> {
  return sql`${term} >= ${word}::text and ${term} < ${`${word}\u{10FFFF}`}::text`
}

/** Identities in the order of the list: all, those of a small set, or one. Each table has an index in this order. */
function orderedRows(listing: Listing, rowsMax: number): RawBuilder<unknown> {
  const { isDescending } = orders[listing.order]
  const direction = isDescending ? sql`desc` : sql`asc`
  const parts = sourcesOf(listing.filter).map(
    (source) => sql`(${orderedRowsOf(listing, source)} limit ${sql.lit(rowsMax)})`,
  )
  return sql`
    select identity_id, place::text as key, is_match from (${sql.join(parts, sql` union all `)}) listed
    order by place ${direction}, identity_id ${direction}`
}

function orderedRowsOf(listing: Listing, source: Source): RawBuilder<unknown> {
  const { driver, order } = listing
  const direction = orders[order].isDescending ? sql`desc` : sql`asc`
  const bounds = [...boundsOf(listing, source), ...laterOf(listing, source)]
  if (typeof driver === 'object' && 'identityId' in driver)
    bounds.push(sql`identity.identity_id = ${driver.identityId}`)
  const place = placeOf(order, source)
  return sql`
    select identity.identity_id, ${place} as place, ${allOf(restrictionsOf(listing, source))} as is_match
    from ${rowsOf(listing, source)}
    where ${allOf(bounds)}
    order by ${place} ${direction}, identity.identity_id ${direction}`
}

function placeOf(order: IdentityOrder, source: Source): RawBuilder<unknown> {
  return order === '-lastSeenOn' && source === 'invited_identity' ? neverSeen : orders[order].key
}

/** Condition on the rows after the position where the page before has ended. */
function laterOf({ after, order }: Listing, source: Source): RawBuilder<unknown>[] {
  if (!after) return []
  const { type, isDescending } = orders[order]
  const compare = isDescending ? sql`<` : sql`>`
  const place = placeOf(order, source)
  // All invited identities have one place, which is the last: its index is the one by ID.
  if (place === neverSeen)
    return after.key === '-infinity' ? [sql`identity.identity_id ${compare} ${after.identityId}::uuid`] : []
  return [sql`(${place}, identity.identity_id) ${compare} (${after.key}::${type}, ${after.identityId}::uuid)`]
}

/**
 * Rows of a table, or those of a small set. The database knows no size of a set: a limit above it says that it is
 * small, and its rows are looked up one by one, because the whole table might be read for them otherwise.
 */
function rowsOf({ driver, rowsMax, ...filtering }: Listing, source: Source): RawBuilder<unknown> {
  const table = sql.table(source)
  if (typeof driver !== 'object' || !('set' in driver)) return sql`${table} identity`
  const small = sql`(${setRows(driver.set, source, filtering)} limit ${sql.lit(2 * rowsMax)}) small`
  if (filtering.inShards) return sql`${small} join ${table} identity using (identity_id)`
  return sql`
    ${small}
    cross join lateral (select * from ${table} found where found.identity_id = small.identity_id limit 1) identity`
}

/** Tells if a set is small enough to read all of it for a page. */
export async function isSmallSet(
  db: Database,
  set: SmallSet,
  { rowsMax, ...filtering }: Filtering & Pick<Listing, 'rowsMax'>,
): Promise<boolean> {
  // The terms of both tables are in one.
  const sources: Source[] = set === 'domain' ? ['identity'] : sourcesOf(filtering.filter)
  const rows = sources.map((source) => setRows(set, source, filtering))
  return (await countUpTo(db, rows, rowsMax + 1)) <= rowsMax
}

/** Counts the identities within the bounds of a list without other restrictions, up to `most`. */
export function countBounded(db: Database, listing: Listing, most: number): Promise<number> {
  const rows = sourcesOf(listing.filter).map(
    (source) => sql`
      select identity.identity_id from ${rowsOf(listing, source)} where ${allOf(boundsOf(listing, source))}`,
  )
  return countUpTo(db, rows, most)
}

async function countUpTo(db: Database, counted: RawBuilder<unknown>[], most: number): Promise<number> {
  const each = sql.join(counted, sql` union all `)
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count
    from (select identity_id from (${each}) each limit ${sql.lit(most)}) counted`.execute(db)
  return rows[0]?.count ?? 0
}

/** Conditions that rows in the order of a list may fail. */
function restrictionsOf({ order, driver, ...filtering }: Listing, source: Source): RawBuilder<unknown>[] {
  if (isSearch(driver)) return conditionsOf(filtering, source)
  const set: Met[] = typeof driver === 'object' && 'set' in driver ? [driver.set] : []
  return conditionsOf(
    filtering,
    source,
    [orderedBy(order), ...set].filter((met) => met !== undefined),
  )
}

/** Conditions on the key of the order: they limit which part of its index is read. */
function boundsOf({ filter, order }: Listing, source: Source): RawBuilder<unknown>[] {
  const by = orderedBy(order)
  if (by === 'created') return createdWithin(filter)
  return by === 'lastSeen' && source === 'identity' ? seenWithin(filter, orders['-lastSeenOn'].key) : []
}

function orderedBy(order: IdentityOrder): 'created' | 'lastSeen' | undefined {
  if (order === 'handle') return undefined
  return order === '-lastSeenOn' ? 'lastSeen' : 'created'
}
