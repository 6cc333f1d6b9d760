import { sql } from 'kysely'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import type { Database } from '#platform/database/database.ts'
import type { OrganizationRequestKey } from '#signing/requests/organizations/organization-answer-store.ts'
import * as organizationRequestStore from '#signing/requests/organizations/organization-request-store.ts'
import * as store from '#signing/requests/identities/store.ts'

/** Position of a request in a user's list. */
export type Position = { createdAt: Date; requestId: string }
export type HistoryPageOptions = { before: Position | undefined; count: number }

/** Ended request without its text, with the size of that text. */
type Ended = Position & { textBytes: number }
export type EndedOfIdentity = Ended & { identityId: IdentityId }
export type SignedForOrganization = Ended & { organizationId: OrganizationId }

/**
 * Lists the newest ended requests of a user, optionally before a position. Reads no more per identity than the whole
 * list may contain.
 */
export async function listEndedOfUser(db: Database, userId: UserId, { before, count }: HistoryPageOptions, now: Date) {
  const { rows } = await sql<EndedOfIdentity>`
    select identity.identity_id as "identityId", request_id as "requestId", ended.created_at as "createdAt",
      text_bytes as "textBytes"
    from identity cross join lateral (
      select request_id, created_at, octet_length(payload) as text_bytes from signing_request
      where signing_request.identity_id = identity.identity_id and (status <> 'pending' or expires_at <= ${now})
        and ${before ? isBefore('signing_request', before) : sql.lit(true)}
      order by created_at desc, request_id desc limit ${count}
    ) ended
    where user_id = ${userId}
    order by ended.created_at desc, request_id desc limit ${count}`.execute(db)
  return rows
}

/** Lists the newest requests signed by organizations, of those that a user has signed or approved. */
export async function listSignedForOrganizations(db: Database, userId: UserId, { before, count }: HistoryPageOptions) {
  const { rows } = await sql<SignedForOrganization>`
    select signing_organization_request.organization_id as "organizationId",
      signing_organization_request.request_id as "requestId",
      signing_organization_request.created_at as "createdAt", octet_length(payload) as "textBytes"
    from signing_organization_request
    join signing_organization_signature own
      on own.organization_id = signing_organization_request.organization_id
      and own.request_id = signing_organization_request.request_id
    join identity on identity.identity_id = own.identity_id
    where identity.user_id = ${userId}
      and signing_organization_request.status = 'signed'
      and ${before ? isBefore('signing_organization_request', before) : sql.lit(true)}
    order by signing_organization_request.created_at desc, signing_organization_request.request_id desc
    limit ${count}`.execute(db)
  return rows
}

/** Reads these requests in any order, each with the user's member identity that signed or approved it. */
export function readSignedForOrganizations(db: Database, userId: UserId, places: OrganizationRequestKey[], now: Date) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return organizationRequestStore
    .requests(db, organizationIds, now)
    .innerJoin('signing_organization_signature as own', (join) =>
      join
        .onRef('own.organization_id', '=', 'signing_organization_request.organization_id')
        .onRef('own.request_id', '=', 'signing_organization_request.request_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'own.identity_id')
    .select(['own.identity_id as identityId', 'own.member_id as memberId', 'own.public_key as publicKey', 'handle'])
    .where('identity.user_id', '=', userId)
    .where(
      sql<boolean>`(signing_organization_request.organization_id, signing_organization_request.request_id)
        in (select * from unnest(${organizationIds}::uuid[], ${requestIds}::uuid[]))`,
    )
    .execute()
}

type Table = 'signing_request' | 'signing_organization_request'

function isBefore(table: Table, { createdAt, requestId }: Position) {
  return sql<boolean>`(${sql.table(table)}.created_at, ${sql.table(table)}.request_id)
    < (${createdAt}::timestamptz, ${requestId}::uuid)`
}

/** Lists the requests to an identity, newest first: `count` of them, optionally before a given one. */
export function listRequests(
  db: Database,
  identityId: IdentityId,
  { before = latest, count }: { before?: Position | undefined; count: number },
) {
  const { createdAt, requestId } = before
  return db
    .selectFrom('signing_request')
    .select(store.request)
    .select('approval_evidence as approvalEvidence')
    .where('identity_id', '=', identityId)
    .where(sql<boolean>`(created_at, request_id) < (${createdAt}::timestamptz, ${requestId}::uuid)`)
    .orderBy('created_at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(count)
    .execute()
}

/** Start position of a list with the newest first. */
const latest: Position = {
  createdAt: new Date('9999-12-31T23:59:59Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}
