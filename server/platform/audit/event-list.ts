import { type RawBuilder, sql } from 'kysely'
import { asId, type IdentityId, type OrganizationId } from '@countersign/protocol/ids'
import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { isUuid } from '@countersign/protocol/values'
import { addSeconds } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { isDistributed } from '#platform/database/distributed/engine.ts'
import { numberEvents } from './chain.ts'
import { findHead } from './chain-store.ts'
import { type EventReader, entryReader, failedActions, type StoredEntry } from './entry.ts'
import { listPresentNames, prefixOf } from './store.ts'

/** Which events to list: of an action or those below it, by an actor, of an identity, within instants. */
export type AuditFilter = {
  action?: string | undefined
  /** A kind of actors, or the ID of an operator or a token. */
  actor?: string | undefined
  identityId?: IdentityId | undefined
  clientId?: string | undefined
  organizationId?: OrganizationId | undefined
  result?: AuditEvent['result'] | undefined
  from?: Date | undefined
  /** Excluded. */
  until?: Date | undefined
}

/** Who reads, and where. */
export type Reading = EventReader & { db: Database }

type Page = { before: string | undefined; count: number }

type EventPage = { entries: AuditEvent[]; nextCursor: string | null }

/** Events that one request reads at most, because no index serves every filter. */
const examinedMax = 1000

/** By how much the time in an event's ID may differ from the one that was recorded, or from when it got its place. */
const toleranceSeconds = 86_400

/**
 * Lists the newest events by their places, of all or of those that a filter selects: all that had committed before. A
 * page may have fewer than `count` events, and even none, although older ones exist: `nextCursor` is null only at the
 * end.
 */
export async function listAuditEvents(reading: Reading, filter: AuditFilter, page: Page): Promise<EventPage> {
  await numberEvents(reading.db)
  return listNumberedEvents(reading, filter, page)
}

/** Does the same for events that have a place, and changes nothing. */
export async function listNumberedEvents(
  reading: Reading,
  filter: AuditFilter,
  { before, count }: Page,
): Promise<EventPage> {
  const { db } = reading
  const { from, until } = filter
  const newest = before ?? (await findEnd(db))
  const start = least(newest, until && (await findPlaceAfter(db, addSeconds(until, toleranceSeconds))))
  const end = isIndexed(filter) ? undefined : await findLastExamined(db, filter, start)
  const found = await listExamined(db, filter, { start, end: end && String(end.sequence), count: count + 1 })
  const entries = await toEntries(reading, found.slice(0, count))
  if (found.length > count) return { entries, nextCursor: String(entries.at(-1)?.sequence) }
  const isOver = end === undefined || (from !== undefined && addSeconds(end.at, toleranceSeconds) < from)
  return { entries, nextCursor: isOver ? null : String(end.sequence) }
}

/** Finds the place after the head. One server shows all events up to a place at once, and needs none. */
async function findEnd(db: Database): Promise<string | undefined> {
  if (!isDistributed(db)) return undefined
  const head = await findHead(db)
  return String((head?.sequence ?? 0) + 1)
}

function least(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Number(one) < Number(other) ? one : other
}

/** Checks whether an index finds exactly the events of a filter. */
function isIndexed({ identityId, organizationId, ...others }: AuditFilter): boolean {
  const hasOne = identityId === undefined || organizationId === undefined
  return hasOne && Object.values(others).every((each) => each === undefined)
}

/** Finds the place after the last event whose ID is older than an instant. */
async function findPlaceAfter(db: Database, at: Date): Promise<string> {
  const last = await db
    .selectFrom('audit_event')
    .select('sequence')
    .where('event_id', '<', firstIdAt(at))
    .where('sequence', 'is not', null)
    .orderBy('event_id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return String(Number(last?.sequence ?? 0) + 1)
}

/** Returns the least ID of a time (UUID version 7, RFC 9562 §5.7). */
function firstIdAt(at: Date): string {
  const milliseconds = Math.max(0, at.getTime()).toString(16).padStart(12, '0')
  return `${milliseconds.slice(0, 8)}-${milliseconds.slice(8, 12)}-7000-8000-000000000000`
}

/**
 * Lists events after a place, oldest first, of all or of those that a filter selects, up to a place that was read
 * before. Returns also the place up to which it looked: the rest takes further calls, which can have no entries.
 */
export async function listEventsAfter(
  reading: Reading,
  filter: AuditFilter,
  { after, to, count }: { after: number; to: number; count: number },
): Promise<{ entries: AuditEvent[]; upTo: number }> {
  const end = isIndexed(filter) ? to : Math.min(to, after + examinedMax)
  const placed = eventsOf(reading.db, filter)
  const examined = placed.where('sequence', '>', String(after)).where('sequence', '<=', String(end))
  const found = await selectEntries(examined, filter).orderBy('sequence').limit(count).execute()
  const entries = await toEntries(reading, found)
  return { entries, upTo: found.length < count ? end : (entries.at(-1)?.sequence ?? end) }
}

/** Returns an event that has committed. */
export async function findEvent(reading: Reading, eventId: string): Promise<AuditEvent | undefined> {
  const { db } = reading
  await numberEvents(db)
  const found = await selectEntries(eventsOf(db, {}).where('event_id', '=', eventId), {}).execute()
  const [entry] = await toEntries(reading, found)
  return entry
}

/** Selects numbered events by what an index serves: an identity, an organization. */
function eventsOf(db: Database, { identityId, organizationId }: AuditFilter) {
  return db
    .selectFrom('audit_event')
    .where('sequence', 'is not', null)
    .$if(identityId !== undefined, (some) => some.where('identity_id', '=', identityId ?? null))
    .$if(organizationId !== undefined, (some) => some.where('organization_id', '=', organizationId ?? null))
}

/** Selects numbered events before a place, newest first. */
function eventsBefore(db: Database, filter: AuditFilter, start: string | undefined) {
  return eventsOf(db, filter)
    .$if(start !== undefined, (older) => older.where('sequence', '<', start ?? ''))
    .orderBy('sequence', 'desc')
}

/** Finds the last event that a request may examine, or undefined if it may examine all. */
function findLastExamined(db: Database, filter: AuditFilter, start: string | undefined) {
  return eventsBefore(db, filter, start)
    .select(['event_id', 'sequence', 'occurred_at as at'])
    .offset(examinedMax - 1)
    .limit(1)
    .executeTakeFirst()
}

type Examined = { start: string | undefined; end: string | undefined; count: number }

function listExamined(db: Database, filter: AuditFilter, { start, end, count }: Examined) {
  return selectEntries(eventsBefore(db, filter, start), filter)
    .$if(end !== undefined, (examined) => examined.where('sequence', '>=', end ?? ''))
    .limit(count)
    .execute()
}

/** Selects events with the parts of a filter that no index serves. */
function selectEntries(events: ReturnType<typeof eventsOf>, filter: AuditFilter) {
  const { action, actor, clientId, result, from, until } = filter
  return events
    .select(entryColumns)
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .$if(action !== undefined, (some) =>
      some.where(({ eb, or }) =>
        or([eb('action', '=', action ?? ''), eb('action', 'like', `${prefixOf(action ?? '')}.%`)]),
      ),
    )
    .$if(actor !== undefined, (some) => some.where(isBy(actor ?? '')))
    .$if(clientId !== undefined, (some) => some.where(sql<boolean>`client_id = ${clientId}`))
    .$if(result !== undefined, (some) => some.where('action', result === 'failure' ? 'in' : 'not in', failedActions))
    .$if(from !== undefined, (some) => some.where('occurred_at', '>=', from ?? null))
    .$if(until !== undefined, (some) => some.where('occurred_at', '<', until ?? null))
}

/** Condition that an actor of a kind, or one with an ID, has acted. */
function isBy(actor: string): RawBuilder<boolean> {
  if (isUuid(actor)) return sql`(operator_id = ${actor}::uuid or actor = 'user' and identity_id = ${actor}::uuid)`
  const column = kindsOfOperators.has(actor) ? sql`operator_kind` : sql`actor`
  return sql`${column} = ${actor}`
}

/** Kinds that the actor `operator` includes. */
const kindsOfOperators = new Set(['token', 'scim', 'break_glass'])

const entryColumns = [
  ...(['event_id', 'sequence', 'occurred_at', 'action', 'actor', 'user_id', 'identity_id', 'client_id'] as const),
  ...(['organization_id', 'app_name', 'operator_kind', 'operator_id', 'operator_name'] as const),
  ...(['origin_network', 'origin_request_id', 'origin_is_chained'] as const),
]

/** Returns what operators see of events, with the present names of identities and organizations. */
async function toEntries({ db, ...reader }: Reading, rows: StoredEntry[]): Promise<AuditEvent[]> {
  const identityIds = rows.flatMap((row) => [
    ...(row.identity_id === null ? [] : [row.identity_id]),
    ...(row.operator_kind === 'operator' && row.operator_id !== null ? [asId<IdentityId>(row.operator_id)] : []),
  ])
  const organizationIds = rows.flatMap(({ organization_id: id }) => (id === null ? [] : [id]))
  const names = await listPresentNames(db, {
    identityIds: [...new Set(identityIds)],
    organizationIds: [...new Set(organizationIds)],
  })
  const read = entryReader(reader)
  return rows.map((row) => read(row, names))
}
