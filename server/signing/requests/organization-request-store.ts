import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { Place } from './organization-answer-store.ts'
import type { Asking } from './quota.ts'
import * as pendingStore from './pending-store.ts'
import type { PendingCounts } from './pending-store.ts'

type NewRequest = {
  organizationId: string
  requestId: string
  clientId: string
  organizationName: string
  payload: string
  metadata: string | null
  approvalsNeeded: number
  expiresAt: Date
}

export async function insertRequest(tx: Transaction, request: NewRequest, now: Date): Promise<void> {
  const { organizationId, requestId, clientId } = request
  await tx
    .insertInto('signing_organization_place')
    .values({ request_id: requestId, organization_id: organizationId, client_id: clientId })
    .execute()
  await tx
    .insertInto('signing_organization_request')
    .values({
      organization_id: organizationId,
      request_id: requestId,
      client_id: clientId,
      organization_name: request.organizationName,
      payload: request.payload,
      metadata: request.metadata,
      approvals_needed: request.approvalsNeeded,
      status: 'pending',
      created_at: now,
      expires_at: request.expiresAt,
    })
    .execute()
}

type OfApp = { organizationId: string } & Omit<Asking, 'signerId'>

/**
 * How many requests wait for an organization, and when the first of them expires: of an app, and of all apps together
 * that act for it as that one does, or do not.
 */
export async function countPending(db: Database, { organizationId, ...app }: OfApp, now: Date) {
  const { rows } = await sql<PendingCounts>`
    select ${pendingStore.pendingCounts(app)}
    from (
      select client_id, expires_at, ${actsForIt(now)} as is_connected
      from signing_organization_request
      where organization_id = ${organizationId} and status = 'pending' and expires_at > ${now} offset 0
    ) pending
    where is_connected = ${app.isConnected}`.execute(db)
  return pendingStore.readCounts(rows, now)
}

/** Whether the app of a request acts for the organization at `now`. */
function actsForIt(now: Date) {
  return sql<boolean>`exists (
    select from token_lineage
    where token_lineage.organization_id = signing_organization_request.organization_id
      and token_lineage.client_id = signing_organization_request.client_id
      and revoked_at is null and ends_at > ${now}
  )`
}

/** Where a request is, and whose. */
export function findPlace(db: Database, requestId: string) {
  return db
    .selectFrom('signing_organization_place')
    .select(['organization_id as organizationId', 'request_id as requestId', 'client_id as clientId'])
    .where('request_id', '=', requestId)
    .executeTakeFirst()
}

const request = [
  'signing_organization_request.organization_id as organizationId',
  'signing_organization_request.request_id as requestId',
  'signing_organization_request.client_id as clientId',
  'signing_organization_request.organization_name as organizationName',
  'signing_organization_request.payload',
  'signing_organization_request.approvals_needed as approvalsNeeded',
  'signing_organization_request.status',
  'signing_organization_request.created_at as createdAt',
  'signing_organization_request.expires_at as expiresAt',
  'signing_organization_request.resolved_at as resolvedAt',
] as const

/** Requests with the app that asks, and whether that acts for the organization at `now`. */
export function requests(db: Database, now: Date) {
  return db
    .selectFrom('signing_organization_request')
    .leftJoin('app', 'app.client_id', 'signing_organization_request.client_id')
    .select(request)
    .select([
      'app.name as appName',
      'app.icon_url as appIconUrl',
      'app.website_url as appWebsiteUrl',
      'app.redirect_uris as appRedirectUris',
      'app.status as appStatus',
      actsForIt(now).as('connected'),
    ])
}

export function findRequest(db: Database, { organizationId, requestId }: Place, now: Date) {
  return requests(db, now)
    .where('signing_organization_request.organization_id', '=', organizationId)
    .where('signing_organization_request.request_id', '=', requestId)
    .executeTakeFirst()
}
export type StoredRequest = NonNullable<Awaited<ReturnType<typeof findRequest>>>

/** Those requests that are at these places, in no order. */
export function listRequests(db: Database, places: Place[], now: Date) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return requests(db, now)
    .where(
      sql<boolean>`(signing_organization_request.organization_id, signing_organization_request.request_id)
        in (select * from unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .execute()
}

/** Locks a request that waits still; whoever answers it comes one after another. */
export function holdPending(tx: Transaction, { organizationId, requestId }: Place, now: Date) {
  return requests(tx, now)
    .where('signing_organization_request.organization_id', '=', organizationId)
    .where('signing_organization_request.request_id', '=', requestId)
    .where('signing_organization_request.status', '=', 'pending')
    .where('signing_organization_request.expires_at', '>', now)
    .forUpdate('signing_organization_request')
    .executeTakeFirst()
}

/** A request that waits no longer, as it is then. */
export type Ended = Pick<
  StoredRequest,
  keyof Place | 'clientId' | 'organizationName' | 'approvalsNeeded' | 'status' | 'expiresAt' | 'resolvedAt'
>

const ended = sql`signing_organization_request.organization_id as "organizationId",
  signing_organization_request.request_id as "requestId", client_id as "clientId",
  organization_name as "organizationName", approvals_needed as "approvalsNeeded", status, expires_at as "expiresAt",
  resolved_at as "resolvedAt"`

/**
 * Makes a request signed, if it waits still and what counts is enough: the signature of a member who signs, and as many
 * approvals as it takes. What does not count any more is forgotten by the same statement: a key that is replaced
 * between two would be counted by the one and forgotten by the other. Nothing where it is not enough.
 */
export async function completeRequest(
  tx: Transaction,
  { organizationId, requestId }: Place,
  now: Date,
): Promise<Ended | undefined> {
  const { rows } = await sql<Ended>`
    with completed as (
      update signing_organization_request set status = 'signed', resolved_at = ${now}
      where organization_id = ${organizationId} and request_id = ${requestId}
        and status = 'pending' and expires_at > ${now}
        and ${organizationAnswerStore.countStanding('sign')} > 0
        and ${organizationAnswerStore.countStanding('approve')} >= approvals_needed
      returning ${ended}
    ), forgotten as (
      delete from signing_organization_answer using completed
      where signing_organization_answer.organization_id = completed."organizationId"
        and signing_organization_answer.request_id = completed."requestId" and not ${organizationAnswerStore.stands}
    )
    select * from completed`.execute(tx)
  return rows[0]
}

/** Ends a request that waits still, and forgets what was signed of it; nothing where it does not, or not yet. */
export async function endRequest(
  tx: Transaction,
  { organizationId, requestId }: Place,
  status: 'denied' | 'expired',
  now: Date,
): Promise<Ended | undefined> {
  const isOver = sql.raw(status === 'expired' ? '<=' : '>')
  const { rows } = await sql<Ended>`
    update signing_organization_request set status = ${status}, resolved_at = ${status === 'denied' ? now : null}
    where organization_id = ${organizationId} and request_id = ${requestId}
      and status = 'pending' and expires_at ${isOver} ${now}
    returning ${ended}`.execute(tx)
  const [over] = rows
  if (over) await organizationAnswerStore.deleteAnswers(tx, [over])
  return over
}

/** Writes down up to `batch` requests that have expired unanswered, and answers which those were. */
export async function expireDue(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  // The condition is as the index says it that only the sweeps may take.
  const { rows } = await sql<Ended>`
    with due as (
      select organization_id, request_id from signing_organization_request
      where status || '' = 'pending' and expires_at <= ${now} limit ${batch}
    )
    update signing_organization_request set status = 'expired' from due
    where signing_organization_request.organization_id = due.organization_id
      and signing_organization_request.request_id = due.request_id
      and status = 'pending' and expires_at <= ${now}
    returning ${ended}`.execute(tx)
  await organizationAnswerStore.deleteAnswers(tx, rows)
  return rows
}

/** Which of these requests wait still. */
export async function listStillPending(db: Database, places: Place[]): Promise<string[]> {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  const { rows } = await sql<{ requestId: string }>`
    select request_id as "requestId" from signing_organization_request
    join unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]) as place (organization_id, request_id)
      using (organization_id, request_id)
    where status = 'pending'`.execute(db)
  return rows.map(({ requestId }) => requestId)
}

/** Deletes up to `batch` requests that led to nothing and expired before `now`. */
export async function deleteEndedRequests(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ request_id: string }>`
    with ended as (
      select organization_id, request_id from signing_organization_request
      where status || '' <> 'signed' and expires_at <= ${now} limit ${batch}
    ), deleted as (
      delete from signing_organization_request using ended
      where signing_organization_request.organization_id = ended.organization_id
        and signing_organization_request.request_id = ended.request_id
        and status <> 'signed' and expires_at <= ${now}
      returning signing_organization_request.request_id
    )
    delete from signing_organization_place using deleted
    where signing_organization_place.request_id = deleted.request_id
    returning signing_organization_place.request_id`.execute(db)
  return rows.length
}
