import { sql } from 'kysely'
import type { Database } from '#kernel/database.ts'
import type { Acting } from '#sessions/session.ts'
import { requests } from './organization-request-store.ts'
import { request, selectForUser } from './request-store.ts'

/** Where a request stands among those of a person. */
export type Position = { createdAt: Date; requestId: string }
export type Wanted = { before: Position | undefined; count: number }

/**
 * The newest requests of a person that wait no longer, of all or of those before a position. Of each identity no more
 * are read than there may be altogether.
 */
export function listEndedOfUser(db: Database, acting: Acting, { before, count }: Wanted, now: Date) {
  const newest = db
    .selectFrom('identity')
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom('signing_request')
          .select(['request_id', 'signing_request.created_at'])
          .whereRef('signing_request.identity_id', '=', 'identity.identity_id')
          .where(({ or, eb }) => or([eb('status', '<>', 'pending'), eb('expires_at', '<=', now)]))
          .where(before ? isBefore('signing_request', before) : sql.lit(true))
          .orderBy('signing_request.created_at', 'desc')
          .orderBy('request_id', 'desc')
          .limit(count)
          .as('ended'),
      (join) => join.onTrue(),
    )
    .select(['identity.identity_id', 'ended.request_id'])
    .where('identity.user_id', '=', acting.userId)
    .orderBy('ended.created_at', 'desc')
    .orderBy('ended.request_id', 'desc')
    .limit(count)
  return selectForUser(db, acting)
    .innerJoin(newest.as('newest'), (join) =>
      join
        .onRef('newest.identity_id', '=', 'signing_request.identity_id')
        .onRef('newest.request_id', '=', 'signing_request.request_id'),
    )
    .orderBy('signing_request.created_at', 'desc')
    .orderBy('signing_request.request_id', 'desc')
    .execute()
}

/** The newest that organizations have signed, of what a person has signed or approved for them. */
export function listSignedForOrganizations(
  db: Database,
  { userId, identityId }: Acting,
  { before, count }: Wanted,
  now: Date,
) {
  return requests(db, now)
    .innerJoin('signing_organization_answer as own', (join) =>
      join
        .onRef('own.organization_id', '=', 'signing_organization_request.organization_id')
        .onRef('own.request_id', '=', 'signing_organization_request.request_id'),
    )
    .innerJoin('identity', 'identity.identity_id', 'own.identity_id')
    .select(['own.identity_id as identityId', 'own.member_id as memberId', 'own.public_key as publicKey', 'handle'])
    .where('identity.user_id', '=', userId)
    .$if(identityId !== null, (alone) => alone.where('own.identity_id', '=', identityId))
    .where('signing_organization_request.status', '=', 'signed')
    .where(before ? isBefore('signing_organization_request', before) : sql.lit(true))
    .orderBy('signing_organization_request.created_at', 'desc')
    .orderBy('signing_organization_request.request_id', 'desc')
    .limit(count)
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
    .select(request)
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
