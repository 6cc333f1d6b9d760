import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import type { Acting } from '#accounts/sessions/session.ts'
import * as organizationRequestStore from './organization-request-store.ts'
import * as store from './store.ts'

/** Where a request stands among those of a person. */
export type Position = { createdAt: Date; requestId: string }
export type Wanted = { before: Position | undefined; count: number }

/** A request that has ended, without its text, of which this is the size. */
type Ended = Position & { textBytes: number }
export type EndedOfIdentity = Ended & { identityId: string }
export type SignedForOrganization = Ended & { organizationId: string }

/**
 * The newest requests of a person that wait no longer, of all or of those before a position. Of each identity no more
 * are read than there may be altogether.
 */
export async function listEndedOfUser(db: Database, userId: string, { before, count }: Wanted, now: Date) {
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

/** The newest that organizations have signed, of what a person has signed or approved for them. */
export async function listSignedForOrganizations(db: Database, acting: Acting, { before, count }: Wanted) {
  const { userId, identityId } = acting
  const { rows } = await sql<SignedForOrganization>`
    select signing_organization_request.organization_id as "organizationId",
      signing_organization_request.request_id as "requestId",
      signing_organization_request.created_at as "createdAt", octet_length(payload) as "textBytes"
    from signing_organization_request
    join signing_organization_answer own
      on own.organization_id = signing_organization_request.organization_id
      and own.request_id = signing_organization_request.request_id
    join identity on identity.identity_id = own.identity_id
    where identity.user_id = ${userId} and ${identityId ? sql`own.identity_id = ${identityId}` : sql.lit(true)}
      and signing_organization_request.status = 'signed'
      and ${before ? isBefore('signing_organization_request', before) : sql.lit(true)}
    order by signing_organization_request.created_at desc, signing_organization_request.request_id desc
    limit ${count}`.execute(db)
  return rows
}

/** Those at these places, each with the member that the person was who signed or approved it, in no order. */
export function readSignedForOrganizations(
  db: Database,
  { userId, identityId }: Acting,
  places: SignedForOrganization[],
  now: Date,
) {
  const organizationIds = places.map(({ organizationId }) => organizationId)
  const requestIds = places.map(({ requestId }) => requestId)
  return organizationRequestStore
    .requests(db, now)
    .innerJoin('signing_organization_answer as own', (join) =>
      join
        .onRef('own.organization_id', '=', 'signing_organization_request.organization_id')
        .onRef('own.request_id', '=', 'signing_organization_request.request_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'own.identity_id')
    .select(['own.identity_id as identityId', 'own.member_id as memberId', 'own.public_key as publicKey', 'handle'])
    .where('identity.user_id', '=', userId)
    .$if(identityId !== null, (alone) => alone.where('own.identity_id', '=', identityId))
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

/** What an identity was asked to sign, the latest first: `count` requests, of all or of those before one. */
export function listRequests(
  db: Database,
  identityId: string,
  { before = latest, count }: { before?: Position | undefined; count: number },
) {
  const { createdAt, requestId } = before
  return db
    .selectFrom('signing_request')
    .select(store.request)
    .where('identity_id', '=', identityId)
    .where(sql<boolean>`(created_at, request_id) < (${createdAt}::timestamptz, ${requestId}::uuid)`)
    .orderBy('created_at', 'desc')
    .orderBy('request_id', 'desc')
    .limit(count)
    .execute()
}

/** Where a list begins that tells the latest first. */
const latest: Position = {
  createdAt: new Date('9999-12-31T23:59:59Z'),
  requestId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
}
