import { limits } from '@countersign/protocol/formats/limits'
import type { Algorithm } from '@countersign/protocol/formats/registries/algorithms'
import type { ClientId, IdentityId, OrganizationId, SessionId, UserId } from '@countersign/protocol/ids'
import { sql, type Expression, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { changedAtOnce } from '#platform/module/batches.ts'
import { withPicked, type Claim } from '#platform/queue/turns.ts'

type NewAppSession = {
  sessionId: SessionId
  identityId: IdentityId
  clientId: ClientId
  organizationId: OrganizationId | null
  expiresAt: Date
}

/** Records that an app knows a session, if the session exists. The session stays locked until the transaction ends. */
export function insertAppSession(tx: Transaction, noted: NewAppSession): void {
  const { sessionId, identityId, clientId, organizationId, expiresAt } = noted
  const inserted = sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, organization_id, expires_at)
    select session_id, session_id, ${identityId}::uuid, ${clientId}::text, ${organizationId}::uuid,
      ${expiresAt}::timestamptz
    from session where session_id = ${sessionId} for no key update
    on conflict (known_session_id, identity_id, client_id, organization_id)
      do update set expires_at = excluded.expires_at`
  sendAhead(tx, inserted)
}

/**
 * Moves the records of a session to one that replaces it. Sign-ins in one browser would add up without limit, so the
 * oldest records beyond a maximum end, and their apps are notified.
 */
export function moveAppSessions(
  tx: Transaction,
  earlier: { sessionId: SessionId; tokenSha256: Uint8Array },
  later: { sessionId: SessionId; userId: UserId },
  now: Date,
): void {
  const moved = sql`
    update session_app set session_id = ${later.sessionId} where session_id = (
      select session_id from session
      where session_id = ${earlier.sessionId} and token_sha256 = ${earlier.tokenSha256} and user_id = ${later.userId}
      for update
    )`
  sendAhead(tx, moved)
  const oldest = sql`
    with ended as (
      delete from session_app where session_id = ${later.sessionId} and (${ageColumns}) < (
        select ${ageColumns} from session_app where session_id = ${later.sessionId}
        order by ${latestFirst} offset ${limits.appsPassedOnMax - 1} limit 1
      ) returning ${endedColumns}
    ), turns as materialized (${turnsOf(sql`ended`, { sessions: sql`()` })})
    ${queueEnded(turnsFound, now)}`
  sendAhead(tx, oldest)
}

/**
 * Scope of a logout: sessions, by a query of their IDs; identities, for one app or all; or members of an organization,
 * for that organization.
 */
export type LogoutOf =
  | { sessions: Expression<unknown> }
  | { identityIds: IdentityId[]; clientId?: ClientId }
  | { organizationId: OrganizationId; identityIds: IdentityId[] }

function endedBy(of: LogoutOf): RawBuilder<unknown> {
  if ('sessions' in of) return sql`session_id in ${of.sessions}`
  // A plan for any list looks up each identity among all of the list once more, where it expects few records.
  const ofIdentities = sql`${plannedForValues} identity_id = any(${of.identityIds}::uuid[])`
  // Rows are found by identity, because PostgreSQL uses no index for `is not distinct from`.
  if ('organizationId' in of) return sql`${ofIdentities} and organization_id is not distinct from ${of.organizationId}`
  return of.clientId === undefined ? ofIdentities : sql`${ofIdentities} and client_id = ${of.clientId}`
}

/** Names the table of identities, without those that a logout does not concern. */
function identitiesOf(of: LogoutOf): RawBuilder<unknown> {
  if (!('identityIds' in of)) return sql`identity`
  return sql`(select identity_id, user_id from identity where identity_id = any(${of.identityIds}::uuid[])) identity`
}

/** Lists the identities of up to `limit` records of apps in which sessions were used for an organization. */
export async function listKnownFor(
  tx: Transaction,
  { organizationId, limit }: { organizationId: OrganizationId; limit: number },
): Promise<IdentityId[]> {
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity_id as "identityId" from session_app
    where organization_id = ${organizationId} limit ${limit}`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Lists all identities of the users of these. */
export async function listSiblings(tx: Transaction, identityIds: IdentityId[]): Promise<IdentityId[]> {
  const users = await tx.selectFrom('identity').select('user_id').where('identity_id', 'in', identityIds).execute()
  if (users.length === 0) return identityIds
  const userIds = users.map((each) => each.user_id)
  const siblings = await tx.selectFrom('identity').select('identity_id').where('user_id', 'in', userIds).execute()
  return [...new Set([...identityIds, ...siblings.map((each) => each.identity_id)])]
}

/** Maximum interval between the logout tokens of two identities of a user, and its random part. */
const apartSeconds = 300
const apartAtRandomSeconds = 240

/**
 * Places of identities among those of their users that end, from 0: the one used last is the first. The identities are
 * in the order of their IDs.
 */
type Turns = { identityIds: IdentityId[]; places: number[]; chances: number[] }

/** Selects `Turns` in one row, from records with `identity_id` and `expires_at`. */
function turnsOf(records: RawBuilder<unknown>, of: LogoutOf): RawBuilder<unknown> {
  return sql`
    select array_agg(identity_id order by identity_id) as "identityIds",
      array_agg(place order by identity_id) as places, array_agg(random() order by identity_id) as chances
    from (
      select identity_id,
        row_number() over (partition by user_id order by used_until desc, identity_id)::integer - 1 as place
      from (select identity_id, max(expires_at) as used_until from ${records} record group by identity_id) used
        left join ${identitiesOf(of)} using (identity_id)
    ) placed having count(*) > 0`
}

/** `Turns` as expressions of SQL. */
type SqlTurns = Record<keyof Turns, RawBuilder<unknown>>

/** Those that another part of the statement found. */
const turnsFound: SqlTurns = {
  identityIds: sql`(select "identityIds" from turns)`,
  places: sql`(select places from turns)`,
  chances: sql`(select chances from turns)`,
}

/**
 * Inserts a logout token for each app, identity and session of `ended`, at the time of the turn of its identity. Turns
 * are found by binary search. With a join, PostgreSQL could compare each record with each turn.
 */
function queueEnded({ identityIds, places, chances }: SqlTurns, now: Date): RawBuilder<unknown> {
  return sql`
    insert into session_logout (client_id, logout_id, identity_id, session_id, created_at, next_attempt_at)
    select client_id, gen_random_uuid(), identity_id, known_session_id, ${now}::timestamptz,
      ${now}::timestamptz + sign(place) * (place * ${apartSeconds}::integer - chance * ${apartAtRandomSeconds}::integer)
        * interval '1 second'
    from (select distinct client_id, identity_id, known_session_id from ended) recipient,
      lateral (select width_bucket(identity_id, ${identityIds}) as nth) turn,
      lateral (select (${places})[nth] as place, (${chances})[nth] as chance) timed`
}

/** What `queueEnded` reads of a record. */
const endedColumns = sql`client_id, identity_id, known_session_id, expires_at`

/** Order of the records of a session. No two are equal. */
const ages = ['expires_at', 'known_session_id', 'identity_id', 'client_id', 'coalesce(organization_id, identity_id)']
const ageColumns = sql.raw(ages.join(', '))
/** The latest first. Citus cannot read the result of a query whose order is that of a row of columns. */
const latestFirst = sql.raw(ages.map((column) => `${column} desc`).join(', '))

/**
 * Queues a logout token for each app, identity and session that ends, and deletes their records. Returns the number of
 * tokens. It is one statement unless there are very many. For each user, the identity used last is notified at
 * once and every other some minutes later. Simultaneous tokens would disclose that two identities belong to one user.
 */
export async function endAppSessions(tx: Transaction, of: LogoutOf, now: Date): Promise<number> {
  // The records are counted first, not listed: a join with a list could compare each record with each of the list.
  // They are counted with a column, because Citus cannot read a result without any.
  const { rows } = await sql<{ count: number; isMore: boolean }>`
    with counted as materialized (
      select count(*) > ${changedAtOnce} as is_more
      from (select true from session_app where ${endedBy(of)} limit ${changedAtOnce + 1}) part
    ), ended as (
      delete from session_app where ${endedBy(of)} and not (select is_more from counted) returning ${endedColumns}
    ), turns as materialized (${turnsOf(sql`ended`, of)}),
    queued as (${queueEnded(turnsFound, now)} returning client_id)
    select count(*)::integer as count, (select is_more from counted) as "isMore" from queued`.execute(tx)
  const [ended] = rows
  return ended?.isMore ? endInParts(tx, of, now) : (ended?.count ?? 0)
}

/** Last record of a part, in the order of the index `session_app_once`. */
type PartEnd = { knownSessionId: SessionId; identityId: IdentityId; clientId: ClientId }

/** Ends any number of records like `endAppSessions`, in statements of limited size, with one turn of each identity. */
async function endInParts(tx: Transaction, of: LogoutOf, now: Date): Promise<number> {
  const records = sql`(select identity_id, expires_at from session_app where ${endedBy(of)})`
  const [turns] = (await sql<Turns>`${plannedForValues} ${turnsOf(records, of)}`.execute(tx)).rows
  if (!turns) return 0
  const { rows: ends } = await sql<PartEnd>`
    ${plannedForValues}
    select known_session_id as "knownSessionId", identity_id as "identityId", client_id as "clientId" from (
      select known_session_id, identity_id, client_id,
        row_number() over (order by known_session_id, identity_id, client_id) as nth
      from session_app where ${endedBy(of)}
    ) record where nth % ${changedAtOnce} = 0 order by nth`.execute(tx)
  let queued = 0
  for (const [nth, end] of [...ends, undefined].entries()) {
    const between = sql`${endedBy(of)} and ${isAfter(ends[nth - 1])} and ${end ? sql`not ${isAfter(end)}` : sql`true`}`
    queued += await endBetween(tx, between, turns, now)
  }
  return queued
}

function isAfter(end: PartEnd | undefined): RawBuilder<unknown> {
  if (end === undefined) return sql`true`
  const { knownSessionId, identityId, clientId } = end
  return sql`(known_session_id, identity_id, client_id) > (${knownSessionId}::uuid, ${identityId}::uuid, ${clientId})`
}

/** Ends the records that meet a condition, except those of identities without a turn. */
async function endBetween(tx: Transaction, between: RawBuilder<unknown>, turns: Turns, now: Date): Promise<number> {
  const identityIds = sql`${turns.identityIds}::uuid[]`
  const places = sql`${turns.places}::integer[]`
  const chances = sql`${turns.chances}::double precision[]`
  const { numAffectedRows = 0n } = await sql`
    ${plannedForValues} with ended as (
      delete from session_app where ${between} and identity_id = any(${identityIds}) returning ${endedColumns}
    ) ${queueEnded({ identityIds, places, chances }, now)}`.execute(tx)
  return Number(numAffectedRows)
}

export type ClaimedLogout = {
  receiverId: ClientId
  clientId: ClientId
  /** User who registered the app, or the app itself. */
  owner: UserId | ClientId
  logoutId: string
  identityId: IdentityId
  sessionId: SessionId
  /** Number of this attempt, from 1. It is unique for this logout. */
  attempt: number
  /** Null if the app was deleted or has no logout URI any more. */
  url: string | null
  appStatus: 'active' | 'disabled' | null
  algorithm: Algorithm | null
  /** Whether an operator registered the app, and named its URL. */
  isOfOperator: boolean
}

/** Apps with queued logouts. Deleted apps and apps without a logout URI have no URL. */
const receivers = sql`
  select receiver_id, next_attempt_at, coalesce(owner_user_id::text, receiver_id) as owner, owner_user_id, slow_until,
    backchannel_logout_uri as url, app.status as app_status, id_token_signed_response_alg as algorithm,
    app.client_id is not null and app.owner_user_id is null and app.metadata_fetched_at is null as is_of_operator
  from waiting left join app on app.client_id = receiver_id
    left join session_logout_receiver slow on slow.client_id = receiver_id`

const beside = sql`select client_id as receiver_id from app where app.owner_user_id = receiver.owner_user_id`

/** Leases due logouts of apps in a lane, in turn, so that no other process sends them until the lease ends. */
export async function claimLogouts(db: Database, claim: Claim): Promise<ClaimedLogout[]> {
  const { now, leaseEndsAt } = claim
  const queue = { table: 'session_logout', id: 'logout_id', receiver: 'client_id', receivers, beside }
  const columns = sql`receiver_id text, picked_id uuid, owner text, url text, app_status text, algorithm text,
    is_of_operator boolean`
  const statement = sql`
    update session_logout logout set next_attempt_at = ${leaseEndsAt}, attempts = attempts + 1
    from picked
    where logout.client_id = picked.receiver_id and logout.logout_id = picked.picked_id
      and logout.next_attempt_at <= ${now}
    returning logout.client_id as "receiverId", logout.client_id as "clientId", logout.logout_id as "logoutId", owner,
      identity_id as "identityId", session_id as "sessionId", attempts as attempt, url, app_status as "appStatus",
      algorithm, is_of_operator as "isOfOperator"`
  return withPicked<ClaimedLogout>(db, { queue, claim, columns, statement })
}

/** Marks an app as a slow receiver of logout tokens until an instant, or removes the mark. */
export async function setSlowToTake(db: Database, clientId: ClientId, slowUntil: Date | null): Promise<void> {
  if (slowUntil === null) {
    await db.deleteFrom('session_logout_receiver').where('client_id', '=', clientId).execute()
    return
  }
  await db
    .insertInto('session_logout_receiver')
    .values({ client_id: clientId, slow_until: slowUntil })
    .onConflict((conflict) => conflict.column('client_id').doUpdateSet({ slow_until: slowUntil }))
    .execute()
}

/** Deletes up to `batch` expired marks of slow receivers. Returns their number. */
export async function deleteFormerlySlow(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (
      delete from session_logout_receiver where client_id = any(array(
        select client_id from session_logout_receiver where slow_until <= ${now} order by slow_until limit ${batch}
      )) and slow_until <= ${now} returning client_id
    )
    select count(*)::integer as count from gone`.execute(db)
  return rows[0]?.count ?? 0
}

type Attempted = Pick<ClaimedLogout, 'clientId' | 'logoutId' | 'attempt'>

/** Deletes a logout from the queue, unless another attempt has taken it over. */
export async function deleteLogout(db: Database, { clientId, logoutId, attempt }: Attempted): Promise<void> {
  await db
    .deleteFrom('session_logout')
    .where('client_id', '=', clientId)
    .where('logout_id', '=', logoutId)
    .where('attempts', '=', attempt)
    .execute()
}

/** Sets the time of the next attempt and the number of attempts, unless another attempt has taken the logout over. */
export async function postponeLogout(
  db: Database,
  { clientId, logoutId, attempt }: Attempted,
  { nextAttemptAt, attempts }: { nextAttemptAt: Date; attempts: number },
): Promise<void> {
  await db
    .updateTable('session_logout')
    .set({ next_attempt_at: nextAttemptAt, attempts })
    .where('client_id', '=', clientId)
    .where('logout_id', '=', logoutId)
    .where('attempts', '=', attempt)
    .execute()
}

export async function deleteExpiredAppSessions(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (
      delete from session_app where (known_session_id, identity_id, client_id) in (
        select known_session_id, identity_id, client_id from session_app where expires_at <= ${now}
        order by expires_at limit ${batch}
      ) and expires_at <= ${now} returning client_id
    )
    select count(*)::integer as count from gone`.execute(db)
  return rows[0]?.count ?? 0
}
