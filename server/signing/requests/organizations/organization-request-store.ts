import { sql } from 'kysely'
import type { ClientId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { readFirst } from '#platform/database/distributed/keys.ts'
import { rowQuery } from '#platform/database/distributed/row-query.ts'
import * as organizationAnswerStore from './organization-answer-store.ts'
import type { OrganizationRequestKey } from './organization-answer-store.ts'
import type { Asking } from '#signing/requests/apps/quota.ts'
import * as quotaStore from '#signing/requests/apps/quota-store.ts'
import type { PendingCounts } from '#signing/requests/apps/quota-store.ts'

type NewRequest = {
  organizationId: OrganizationId
  requestId: string
  clientId: ClientId
  organizationName: string
  payload: string
  metadata: string | null
  approvalsNeeded: number
  expiresAt: Date
}

export async function insertRequest(tx: Transaction, request: NewRequest, now: Date): Promise<void> {
  const { organizationId, requestId, clientId } = request
  await tx
    .insertInto('signing_organization_request_route')
    .values({ request_id: requestId, organization_id: organizationId, client_id: clientId })
    .execute()
  const { columns, query } = rowQuery({
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
    app_name: sql`(select name from app where client_id = ${clientId})`,
  })
  await tx.insertInto('signing_organization_request').columns(columns).expression(query).execute()
}

type OfApp = { organizationId: OrganizationId } & Omit<Asking, 'signerId'>

/**
 * Counts the pending requests of an organization and finds the first expiry: for one app, and for all apps with the
 * same relation to the organization.
 */
export async function countPending(db: Database, { organizationId, ...app }: OfApp, now: Date) {
  const { rows } = await sql<PendingCounts>`
    select ${quotaStore.pendingCounts(app)}
    from (
      select client_id, expires_at, ${actsForIt(db, [organizationId], now)} as is_connected
      from signing_organization_request
      where organization_id = ${organizationId} and status = 'pending' and expires_at > ${now} offset 0
    ) pending
    where is_connected = ${app.isConnected}`.execute(db)
  return quotaStore.readCounts(rows, now)
}

/** Builds SQL that checks whether the app of a request to one of these organizations acts for it at `now`. */
function actsForIt(db: Database, organizationIds: OrganizationId[], now: Date) {
  const families = sql`select * from token_family where organization_id = any(${organizationIds}::uuid[])`
  return sql<boolean>`exists (
    select from ${readFirst(db, 'token_family', families)} token_family
    where token_family.organization_id = signing_organization_request.organization_id
      and token_family.client_id = signing_organization_request.client_id
      and revoked_at is null and expires_at > ${now}
  )`
}

/** Finds the organization and the app of a request. */
export function findRequestRoute(db: Database, requestId: string) {
  return db
    .selectFrom('signing_organization_request_route')
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
  'signing_organization_request.council_reset_at as councilResetAt',
] as const

/** Selects requests to these organizations with the requesting app, and whether that acts for them at `now`. */
export function requests(db: Database, organizationIds: OrganizationId[], now: Date) {
  return db
    .selectFrom('signing_organization_request')
    .leftJoin('app', 'app.client_id', 'signing_organization_request.client_id')
    .select(request)
    .select([
      'app.name as appName',
      'signing_organization_request.app_name as appNameThen',
      'app.icon_url as appIconUrl',
      'app.website_url as appWebsiteUrl',
      'app.redirect_uris as appRedirectUris',
      'app.status as appStatus',
      actsForIt(db, organizationIds, now).as('connected'),
    ])
}

export function findRequest(db: Database, { organizationId, requestId }: OrganizationRequestKey, now: Date) {
  return requests(db, [organizationId], now)
    .where('signing_organization_request.organization_id', '=', organizationId)
    .where('signing_organization_request.request_id', '=', requestId)
    .executeTakeFirst()
}
export type StoredRequest = NonNullable<Awaited<ReturnType<typeof findRequest>>>

/** Reads the requests with these keys, in any order. */
export function listRequests(db: Database, places: OrganizationRequestKey[], now: Date) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return requests(db, organizationIds, now)
    .where(
      sql<boolean>`(signing_organization_request.organization_id, signing_organization_request.request_id)
        in (select * from unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .execute()
}

/** Locks a pending request, so that answers are serialized. */
export function lockPendingRequest(tx: Transaction, { organizationId, requestId }: OrganizationRequestKey, now: Date) {
  return requests(tx, [organizationId], now)
    .where('signing_organization_request.organization_id', '=', organizationId)
    .where('signing_organization_request.request_id', '=', requestId)
    .where('signing_organization_request.status', '=', 'pending')
    .where('signing_organization_request.expires_at', '>', now)
    .forUpdate('signing_organization_request')
    .executeTakeFirst()
}

export type RequestStatus = Pick<
  StoredRequest,
  | keyof OrganizationRequestKey
  | 'clientId'
  | 'organizationName'
  | 'approvalsNeeded'
  | 'status'
  | 'expiresAt'
  | 'resolvedAt'
>

/** Request that has ended, with its final state. */
export type Ended = RequestStatus & { status: Exclude<RequestStatus['status'], 'pending'> }

const ended = sql`signing_organization_request.organization_id as "organizationId",
  signing_organization_request.request_id as "requestId", client_id as "clientId",
  organization_name as "organizationName", approvals_needed as "approvalsNeeded", status, expires_at as "expiresAt",
  resolved_at as "resolvedAt"`

/** Sets the name of the app as the member saw it who denied. */
const appNameNow = sql`app_name = coalesce((
  select app.name from app where app.client_id = signing_organization_request.client_id
), app_name)`

/**
 * Completes a pending request if the valid signatures suffice: one of a member who signs, and the number of approvals
 * that was required when the request was created or is required now, whichever is larger.
 *
 * The same statement deletes signatures that do not count any more. With two statements, a key replaced in between
 * would be counted by one and deleted by the other. `appName` is the name that the members saw. Returns undefined if
 * the signatures do not suffice.
 */
export async function completeRequest(
  tx: Transaction,
  { organizationId, requestId, appName }: OrganizationRequestKey & { appName: string | null },
  now: Date,
): Promise<Ended | undefined> {
  const { rows } = await sql<Ended>`
    with answer as materialized (
      select identity_id, role, ${organizationAnswerStore.isValidSignature(tx, [organizationId])} as counts
      from signing_organization_signature
      where organization_id = ${organizationId} and request_id = ${requestId}
    ), completed as (
      update signing_organization_request set status = 'signed', resolved_at = ${now},
        app_name = coalesce(${appName}, app_name),
        council_reset_at = (
          select reset_at from organization_council_reset reset where reset.organization_id = ${organizationId}
        )
      where organization_id = ${organizationId} and request_id = ${requestId}
        and status = 'pending' and expires_at > ${now}
        and exists (select from answer where role = 'sign' and counts)
        and (select count(*) from answer where role = 'approve' and counts) >= greatest(approvals_needed, (
          select organization.approvals_needed from organization where organization.organization_id = ${organizationId}
        ))
      returning ${ended}
    ), forgotten as (
      delete from signing_organization_signature using completed, answer
      where signing_organization_signature.organization_id = completed."organizationId"
        and signing_organization_signature.request_id = completed."requestId"
        and signing_organization_signature.identity_id = answer.identity_id and not answer.counts
    )
    select * from completed`.execute(tx)
  return rows[0]
}

/** Closes a pending request and deletes its signatures; returns undefined if it is not pending, or not yet expired. */
export async function closeRequest(
  tx: Transaction,
  { organizationId, requestId }: OrganizationRequestKey,
  status: 'denied' | 'expired',
  now: Date,
): Promise<Ended | undefined> {
  const isOver = sql.raw(status === 'expired' ? '<=' : '>')
  const { rows } = await sql<Ended>`
    update signing_organization_request set status = ${status}, resolved_at = ${status === 'denied' ? now : null}
      ${status === 'denied' ? sql`, ${appNameNow}` : sql``}
    where organization_id = ${organizationId} and request_id = ${requestId}
      and status = 'pending' and expires_at ${isOver} ${now}
    returning ${ended}`.execute(tx)
  const [over] = rows
  if (over) await organizationAnswerStore.deleteAnswers(tx, [over])
  return over
}

/** Marks up to `batch` pending requests as expired and returns them. */
export async function expireDue(tx: Transaction, now: Date, batch: number): Promise<Ended[]> {
  // The condition repeats that of the partial index that only the cleanup may use.
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

/** Lists which of these requests are still pending. */
export async function listStillPending(db: Database, places: OrganizationRequestKey[]): Promise<string[]> {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  const { rows } = await sql<{ requestId: string }>`
    select request_id as "requestId" from signing_organization_request
    join unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]) as place (organization_id, request_id)
      using (organization_id, request_id)
    where status = 'pending'`.execute(db)
  return rows.map(({ requestId }) => requestId)
}

/** Deletes up to `batch` unsigned requests that expired before `now`. */
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
    delete from signing_organization_request_route using deleted
    where signing_organization_request_route.request_id = deleted.request_id
    returning signing_organization_request_route.request_id`.execute(db)
  return rows.length
}
