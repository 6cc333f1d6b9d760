import { sql } from 'kysely'
import type { Database } from '#kernel/database.ts'
import type { Acting } from '#sessions/session.ts'
import { selectForUser } from './request-store.ts'

/** Where a request stands among those of a person. */
export type Position = { createdAt: Date; requestId: string }
type Page = { before: Position | undefined; count: number }

/**
 * The newest requests of a person that wait no longer, of all or of those before a position. Of each identity no more
 * are read than there may be altogether.
 */
export function listEndedOfUser(db: Database, acting: Acting, { before, count }: Page, now: Date) {
  const newest = db
    .selectFrom('identity')
    .innerJoinLateral(
      ({ selectFrom }) =>
        selectFrom('signing_request')
          .select(['request_id', 'signing_request.created_at'])
          .whereRef('signing_request.identity_id', '=', 'identity.identity_id')
          .where(({ or, eb }) => or([eb('status', '<>', 'pending'), eb('expires_at', '<=', now)]))
          .where(before ? isBefore(before) : sql.lit(true))
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

function isBefore({ createdAt, requestId }: Position) {
  return sql<boolean>`(signing_request.created_at, request_id) < (${createdAt}::timestamptz, ${requestId}::uuid)`
}
