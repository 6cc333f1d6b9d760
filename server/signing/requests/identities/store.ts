import { limits } from '@countersign/protocol/formats/limits'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'
import { rowQuery } from '#platform/database/distributed/row-query.ts'
import { sendAhead } from '#platform/database/pipeline.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { changeInParts } from '#platform/module/batches.ts'
import type { ApprovalColumns, toApprovalColumns } from '#signing/requests/approvals/approval.ts'
import type { Asking } from '#signing/requests/apps/quota.ts'
import * as quotaStore from '#signing/requests/apps/quota-store.ts'
import type { PendingCounts } from '#signing/requests/apps/quota-store.ts'

type NewRequest = {
  requestId: string
  identityId: IdentityId
  clientId: ClientId
  payload: string
  metadata: string | null
  keyVersion: number
  publicKey: Uint8Array
  createdAt: Date
  expiresAt: Date
}

export function insertRequest(tx: Transaction, request: NewRequest): void {
  const { requestId, identityId, clientId } = request
  const route = tx
    .insertInto('signing_request_route')
    .values({ request_id: requestId, identity_id: identityId, client_id: clientId })
  const { columns, query } = rowQuery({
    identity_id: identityId,
    request_id: requestId,
    client_id: clientId,
    payload: request.payload,
    metadata: request.metadata,
    key_version: request.keyVersion,
    public_key: request.publicKey,
    status: 'pending',
    created_at: request.createdAt,
    expires_at: request.expiresAt,
    app_name: sql`(select name from app where client_id = ${clientId})`,
  })
  const inserted = tx.insertInto('signing_request').columns(columns).expression(query)
  sendAhead(tx, route)
  sendAhead(tx, inserted)
}

type OfApp = { identityId: IdentityId } & Omit<Asking, 'signerId'>

/**
 * Counts the pending requests of an identity and finds the first expiry: for one app, and for all apps with the same
 * relation to the identity.
 */
export async function countPending(db: Database, { identityId, ...app }: OfApp, now: Date) {
  const { rows } = await sql<PendingCounts>`
    select ${quotaStore.pendingCounts(app)}
    from (
      select client_id, expires_at, exists (
        select from authorization_consent consent
        where consent.identity_id = ${identityId} and consent.client_id = signing_request.client_id
      ) as is_connected
      from signing_request where identity_id = ${identityId} and status = 'pending' and expires_at > ${now} offset 0
    ) pending
    where is_connected = ${app.isConnected}`.execute(db)
  return quotaStore.readCounts(rows, now)
}

export type RequestStatus = Pick<
  StoredRequest,
  'identityId' | 'requestId' | 'clientId' | 'publicKey' | 'status' | 'signature' | 'expiresAt' | 'resolvedAt'
> &
  Partial<ApprovalColumns>
type FoundStatus = RequestStatus & { isFormer: boolean }

/** Reads the status of a request by its ID alone; one of a deleted identity stays pending until it expires. */
export async function findStatus(db: Database, requestId: string): Promise<FoundStatus | undefined> {
  const identityIds = await findKeys(
    db,
    db.selectFrom('signing_request_route').select('identity_id').where('request_id', '=', requestId),
  )
  const { rows } = await sql<FoundStatus>`
    select identity_id as "identityId", request_id as "requestId", client_id as "clientId", public_key as "publicKey",
      status, signature, expires_at as "expiresAt", resolved_at as "resolvedAt",
      approval_statement as "approvalStatement", approval_signature as "approvalSignature",
      approval_presence as "approvalPresence", false as "isFormer"
    from signing_request where identity_id = any(${identityIds}) and request_id = ${requestId}
    union all
    select identity_id, request_id, client_id, public_key, 'pending', null, expires_at, null, null, null, null, true
    from signing_former_request where request_id = ${requestId}
    union all
    select identity_id, request_id, client_id, public_key, 'expired', null, expires_at, null, null, null, null, true
    from signing_expired_former_request where request_id = ${requestId}`.execute(db)
  return rows[0]
}

/** Finds the identity and the app of a request. */
export function findRequestRoute(db: Database, requestId: string) {
  return db
    .selectFrom('signing_request_route')
    .select(['identity_id as identityId', 'client_id as clientId'])
    .where('request_id', '=', requestId)
    .executeTakeFirst()
}

const approvalColumns = [
  'signing_request.approval_statement as approvalStatement',
  'signing_request.approval_signature as approvalSignature',
  'signing_request.approval_presence as approvalPresence',
] as const

export const request = [
  'signing_request.identity_id as identityId',
  'signing_request.request_id as requestId',
  'signing_request.client_id as clientId',
  'signing_request.payload',
  'signing_request.key_version as keyVersion',
  'signing_request.public_key as publicKey',
  'signing_request.status',
  'signing_request.signature',
  'signing_request.signed_handle as signedAs',
  'signing_request.created_at as createdAt',
  'signing_request.expires_at as expiresAt',
  'signing_request.resolved_at as resolvedAt',
  ...approvalColumns,
] as const

export function findRequest(db: Database, identityId: IdentityId, requestId: string) {
  return db
    .selectFrom('signing_request')
    .select(request)
    .where('identity_id', '=', identityId)
    .where('request_id', '=', requestId)
    .executeTakeFirst()
}
export type StoredRequest = NonNullable<Awaited<ReturnType<typeof findRequest>>>

/**
 * Selects requests in the user's view: with identity, app, and whether the identity has connected the app. A
 * distributed database needs the identities of a list for each table that it joins.
 */
function selectForUser(db: Database | Transaction, userId: UserId, listed?: IdentityId[]) {
  const isListed = (table: string) =>
    listed ? sql<boolean>`${sql.table(table)}.identity_id = any(${listed}::uuid[])` : sql<boolean>`true`
  return db
    .selectFrom('signing_request')
    .innerJoin('identity', 'identity.identity_id', 'signing_request.identity_id')
    .leftJoin('app', 'app.client_id', 'signing_request.client_id')
    .leftJoin('authorization_consent', (join) =>
      join
        .onRef('authorization_consent.identity_id', '=', 'signing_request.identity_id')
        .onRef('authorization_consent.client_id', '=', 'signing_request.client_id')
        .on(isListed('authorization_consent')),
    )
    .select(request)
    .select([
      'identity.user_id as userId',
      'identity.handle',
      'app.name as appName',
      'signing_request.app_name as appNameThen',
      'app.icon_url as appIconUrl',
      'app.website_url as appWebsiteUrl',
      'app.redirect_uris as appRedirectUris',
      'app.status as appStatus',
      sql<boolean>`authorization_consent.client_id is not null`.as('connected'),
    ])
    .where('identity.user_id', '=', userId)
    .where(isListed('identity'))
}

export function findRequestOfUser(
  db: Database | Transaction,
  userId: UserId,
  identityId: IdentityId,
  requestId: string,
) {
  return selectForUser(db, userId)
    .where('signing_request.identity_id', '=', identityId)
    .where('signing_request.request_id', '=', requestId)
    .executeTakeFirst()
}
export type RequestOfUser = NonNullable<Awaited<ReturnType<typeof findRequestOfUser>>>

/** Lists those of a user's requests that have these IDs, in any order. */
export function listRequestsOfUser(db: Database, userId: UserId, places: SigningRequestKey[]) {
  const identityIds = places.map(({ identityId }) => identityId)
  const requestIds = places.map(({ requestId }) => requestId)
  // One server would plan a worse statement with the list.
  return selectForUser(db, userId, isDistributed(db) ? identityIds : undefined)
    .where(sql<boolean>`signing_request.identity_id = any(${identityIds}::uuid[])`)
    .where(
      sql<boolean>`(signing_request.identity_id, signing_request.request_id)
        in (select * from unnest(${identityIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .$if(!isDistributed(db), (requests) => requests.modifyEnd(onOneServer))
    .execute()
}

type SigningRequestKey = { identityId: IdentityId; requestId: string }
type Resolution = ({ status: 'signed'; signature: Uint8Array } & Partial<StoredEvidence>) | { status: 'denied' }
type StoredEvidence = ReturnType<typeof toApprovalColumns>

const statusColumns = [
  'signing_request.identity_id as identityId',
  'signing_request.request_id as requestId',
  'signing_request.client_id as clientId',
  'signing_request.public_key as publicKey',
  'signing_request.signature',
  'signing_request.expires_at as expiresAt',
  'signing_request.resolved_at as resolvedAt',
  ...approvalColumns,
] as const

/** Request that has ended, with its final state. */
export type Ended = RequestStatus & { status: Exclude<RequestStatus['status'], 'pending'> }

/**
 * Resolves a pending request; returns undefined if it is not pending any more. It is stored with the name of the app,
 * and a signature with the handle, at that time.
 */
export async function resolveRequest(
  tx: Transaction,
  { identityId, requestId }: SigningRequestKey,
  resolution: Resolution,
  now: Date,
): Promise<Ended | undefined> {
  const ended = await tx
    .updateTable('signing_request')
    .set(({ selectFrom, ref, fn }) => ({
      ...resolution,
      app_name: fn.coalesce(
        selectFrom('app').select('app.name').where('app.client_id', '=', ref('signing_request.client_id')),
        'signing_request.app_name',
      ),
      ...(resolution.status === 'signed' && {
        signed_handle: selectFrom('identity')
          .select('identity.handle')
          .where('identity.identity_id', '=', ref('signing_request.identity_id')),
      }),
      resolved_at: now,
    }))
    .where('identity_id', '=', identityId)
    .where('request_id', '=', requestId)
    .where('status', '=', 'pending')
    .where('expires_at', '>', now)
    .returning(statusColumns)
    .executeTakeFirst()
  return ended && { ...ended, status: resolution.status }
}

/** Stores that a request has expired; returns undefined if it was answered before or is still pending. */
export async function expireRequest(
  tx: Transaction,
  { identityId, requestId }: SigningRequestKey,
  now: Date,
): Promise<Ended | undefined> {
  const ended = await tx
    .updateTable('signing_request')
    .set({ status: 'expired' })
    .where('identity_id', '=', identityId)
    .where('request_id', '=', requestId)
    .where('status', '=', 'pending')
    .where('expires_at', '<=', now)
    .returning(statusColumns)
    .executeTakeFirst()
  return ended && { ...ended, status: 'expired' }
}

/** Lists which of these requests are still pending. */
export async function listStillPending(db: Database, places: SigningRequestKey[]): Promise<string[]> {
  const identityIds = places.map(({ identityId }) => identityId)
  const requestIds = places.map(({ requestId }) => requestId)
  const { rows } = await sql<{ requestId: string }>`
    select request_id as "requestId" from signing_request
    join unnest(${identityIds}::uuid[], ${requestIds}::uuid[]) as place (identity_id, request_id)
      using (identity_id, request_id)
    where signing_request.identity_id = any(${identityIds}::uuid[]) and status = 'pending'
    union all
    select request_id from signing_former_request where request_id = any(${requestIds}::uuid[])`.execute(db)
  return rows.map(({ requestId }) => requestId)
}

/** Expires all pending requests of an identity and returns them. */
export async function expirePending(tx: Transaction, identityId: IdentityId): Promise<Ended[]> {
  const ended = await tx
    .updateTable('signing_request')
    .set({ status: 'expired' })
    .where('identity_id', '=', identityId)
    .where('status', '=', 'pending')
    .returning(statusColumns)
    .execute()
  return ended.map((each) => ({ ...each, status: 'expired' }))
}

/**
 * Deletes all requests of an identity, in statements of limited size. For pending requests, whose number is limited, it
 * keeps the app until they expire.
 */
export async function deleteRequests(tx: Transaction, identityId: IdentityId): Promise<void> {
  const { signingPendingOfConnectedTogetherMax, signingPendingOfUnconnectedTogetherMax } = limits
  let waitingLeft = signingPendingOfConnectedTogetherMax + signingPendingOfUnconnectedTogetherMax
  await changeInParts<string>(
    async (count, after = firstId) => {
      const { rows } = await sql<{ requestId: string }>`
        select request_id as "requestId" from signing_request
        where identity_id = ${identityId} and request_id > ${after} order by request_id limit ${count}`.execute(tx)
      return rows.map(({ requestId }) => requestId)
    },
    async (requestIds) => {
      const { numAffectedRows = 0n } = await sql`
        ${plannedForValues} with gone as (
          delete from signing_request
          where identity_id = ${identityId}::uuid and request_id = any(${requestIds}::uuid[])
          returning identity_id, request_id, client_id, public_key, status, expires_at
        ), places as (
          delete from signing_request_route where request_id = any(${requestIds}::uuid[])
        )
        insert into signing_former_request (request_id, identity_id, client_id, public_key, expires_at)
        select request_id, identity_id, client_id, public_key, expires_at from gone where status = 'pending'
        limit ${waitingLeft}`.execute(tx)
      waitingLeft -= Number(numAffectedRows)
    },
  )
}

/** ID before those of all requests. */
const firstId = '00000000-0000-0000-0000-000000000000'
