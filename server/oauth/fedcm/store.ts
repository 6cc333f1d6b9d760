import type { ClientId, SessionId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewContinuation = {
  referenceSha256: Uint8Array
  userId: UserId
  sessionId: SessionId
  clientId: ClientId
  origin: string
  request: string
  expiresAt: Date
}

export async function insertContinuation(db: Database, waiting: NewContinuation): Promise<void> {
  await db
    .insertInto('fedcm_continuation')
    .values({
      reference_sha256: waiting.referenceSha256,
      user_id: waiting.userId,
      session_id: waiting.sessionId,
      client_id: waiting.clientId,
      origin: waiting.origin,
      request: waiting.request,
      expires_at: waiting.expiresAt,
    })
    .execute()
}

const continuation = ['client_id as clientId', 'origin', 'request'] as const

export function findContinuation(
  db: Database,
  { referenceSha256, sessionId }: { referenceSha256: Uint8Array; sessionId: SessionId },
  now: Date,
) {
  return db
    .selectFrom('fedcm_continuation')
    .select(continuation)
    .where('reference_sha256', '=', referenceSha256)
    .where('session_id', '=', sessionId)
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

type Waiting = { referenceSha256: Uint8Array; userId: UserId; clientId: ClientId }

/** Deletes the pending sign-in of this user at this app, so that it is finished once. */
export function consumeContinuation(tx: Transaction, { referenceSha256, userId, clientId }: Waiting, now: Date) {
  return tx
    .deleteFrom('fedcm_continuation')
    .where('reference_sha256', '=', referenceSha256)
    .where('user_id', '=', userId)
    .where('client_id', '=', clientId)
    .where('expires_at', '>', now)
    .returning(continuation)
    .executeTakeFirst()
}

export async function deleteContinuationsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('fedcm_continuation').where('user_id', '=', userId).execute()
}

export async function deleteExpiredContinuations(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('fedcm_continuation')
    .select('reference_sha256')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('fedcm_continuation')
    .where('reference_sha256', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
