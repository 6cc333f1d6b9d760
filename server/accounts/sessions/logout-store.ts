import { sql, type Expression, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { pickInTurn, type Claim } from '#platform/queue/turns.ts'

type NewAppSession = {
  sessionId: string
  identityId: string
  clientId: string
  organizationId: string | null
  expiresAt: Date
}

/** Notes that an app knows a session, if the session is there; it stays until the transaction ends. */
export async function insertAppSession(tx: Transaction, noted: NewAppSession): Promise<void> {
  const { sessionId, identityId, clientId, organizationId, expiresAt } = noted
  await sql`
    insert into session_app (session_id, known_session_id, identity_id, client_id, organization_id, expires_at)
    select session_id, session_id, ${identityId}::uuid, ${clientId}::text, ${organizationId}::uuid,
      ${expiresAt}::timestamptz
    from session where session_id = ${sessionId} for no key update
    on conflict (known_session_id, identity_id, client_id, organization_id)
      do update set expires_at = excluded.expires_at`.execute(tx)
}

export async function moveAppSessions(
  tx: Transaction,
  earlier: { sessionId: string; tokenSha256: Uint8Array },
  later: { sessionId: string; userId: string },
): Promise<void> {
  await sql`
    update session_app set session_id = ${later.sessionId} where session_id = (
      select session_id from session
      where session_id = ${earlier.sessionId} and token_sha256 = ${earlier.tokenSha256} and user_id = ${later.userId}
      for update
    )`.execute(tx)
}

/**
 * What ends for apps: sessions, by a query of their ids; what identities have at one app or at all; what members of an
 * organization, or these identities, have for it.
 */
export type LogoutOf =
  | { sessions: Expression<unknown> }
  | { identityIds: string[]; clientId?: string }
  | { organizationId: string; identityIds?: string[] | undefined }

function endedBy(of: LogoutOf): RawBuilder<unknown> {
  if ('sessions' in of) return sql`session_id in ${of.sessions}`
  if ('organizationId' in of && of.identityIds === undefined) return sql`organization_id = ${of.organizationId}`
  const ofIdentities = sql`identity_id = any(${of.identityIds}::uuid[])`
  // No index is used for `is not distinct from`, so that what identities have is found by these.
  if ('organizationId' in of) return sql`${ofIdentities} and organization_id is not distinct from ${of.organizationId}`
  return of.clientId === undefined ? ofIdentities : sql`${ofIdentities} and client_id = ${of.clientId}`
}

/** Holds sessions until the transaction ends, and waits for whoever gives an app something in one of them. */
export async function lockSessions(tx: Transaction, sessions: Expression<unknown>): Promise<void> {
  await sql`
    with held as materialized (select session_id from session where session_id in ${sessions} for update)
    select count(*) from held`.execute(tx)
}

/** How much later each further identity of a user is sent: by so much more at most, and by how much of it at random. */
const apartSeconds = 300
const apartAtRandomSeconds = 240

/**
 * Queues a logout token for each app, identity and session of what ends, and forgets these; answers how many. One
 * statement, however many sessions that are. Of a user, the identity that was used last is sent at once, and each other
 * some minutes after the one before it: two that came together would be known for one person's.
 */
export async function endAppSessions(tx: Transaction, of: LogoutOf, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with ended as (
      delete from session_app where ${endedBy(of)} returning client_id, identity_id, known_session_id, expires_at
    ), turn as materialized (
      select identity_id,
        row_number() over (partition by user_id order by max(expires_at) desc, identity_id) - 1 as nth,
        random() as chance
      from ended left join identity using (identity_id) group by identity_id, user_id
    ), told as (
      select distinct client_id, identity_id, known_session_id from ended
    ), queued as (
      insert into session_logout (client_id, logout_id, identity_id, session_id, created_at, due_at)
      select client_id, gen_random_uuid(), identity_id, known_session_id, ${now}::timestamptz,
        ${now}::timestamptz + sign(nth) * (nth * ${apartSeconds}::integer - chance * ${apartAtRandomSeconds}::integer)
          * interval '1 second'
      from told join turn using (identity_id)
      returning client_id
    )
    select count(*)::integer as count from queued`.execute(tx)
  return rows[0]?.count ?? 0
}

export type ClaimedLogout = {
  clientId: string
  /** The user who registered the app, or the app itself. */
  owner: string
  logoutId: string
  identityId: string
  sessionId: string
  /** Which attempt this is, from 1. Nobody else has this number of this logout. */
  attempt: number
  /** Null where the app is gone, or has no logout URI any more. */
  url: string | null
  appStatus: 'active' | 'disabled' | null
  algorithm: 'RS256' | 'ES256' | 'EdDSA' | null
}

/** The apps that wait; one that is gone, or has no logout URI any more, is found without a URL. */
const receivers = sql`
  select client_id, due_at, coalesce(owner_user_id::text, client_id) as owner, owner_user_id, slow_until,
    backchannel_logout_uri as url, app.status as app_status, id_token_algorithm as algorithm
  from waiting left join app using (client_id) left join session_logout_receiver using (client_id)`

const beside = sql`select client_id from app where app.owner_user_id = receiver.owner_user_id`

/** Takes logouts that are due to apps of a lane, in turn, so that until the lease ends nobody else does. */
export async function claimLogouts(db: Database, claim: Claim): Promise<ClaimedLogout[]> {
  const { now, leaseEndsAt } = claim
  const queue = { table: 'session_logout', id: 'logout_id', receivers, beside }
  const { rows } = await sql<ClaimedLogout>`
    with recursive ${pickInTurn(queue, claim)}
    update session_logout logout set due_at = ${leaseEndsAt}, attempts = attempts + 1
    from picked
    where logout.client_id = picked.client_id and logout.logout_id = picked.picked_id and logout.due_at <= ${now}
    returning logout.client_id as "clientId", logout.logout_id as "logoutId", owner, identity_id as "identityId",
      session_id as "sessionId", attempts as attempt, url, app_status as "appStatus", algorithm`.execute(db)
  return rows
}

/** Has an app counted as slow to take logout tokens until then, or as quick again. */
export async function setSlowToTake(db: Database, clientId: string, slowUntil: Date | null): Promise<void> {
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

/** Forgets up to `batch` apps that count as slow no more, and says how many. */
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

/** Takes a logout out of the queue, unless another has taken it over. */
export async function deleteLogout(db: Database, { clientId, logoutId, attempt }: Attempted): Promise<void> {
  await db
    .deleteFrom('session_logout')
    .where('client_id', '=', clientId)
    .where('logout_id', '=', logoutId)
    .where('attempts', '=', attempt)
    .execute()
}

/** Sets when a logout is sent next and how many attempts count, unless another has taken it over. */
export async function postponeLogout(
  db: Database,
  { clientId, logoutId, attempt }: Attempted,
  { dueAt, attempts }: { dueAt: Date; attempts: number },
): Promise<void> {
  await db
    .updateTable('session_logout')
    .set({ due_at: dueAt, attempts })
    .where('client_id', '=', clientId)
    .where('logout_id', '=', logoutId)
    .where('attempts', '=', attempt)
    .execute()
}

export async function deleteExpiredAppSessions(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (
      delete from session_app where ctid = any(array(
        select ctid from session_app where expires_at <= ${now} order by expires_at limit ${batch}
      )) returning client_id
    )
    select count(*)::integer as count from gone`.execute(db)
  return rows[0]?.count ?? 0
}
