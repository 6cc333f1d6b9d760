import type { Database, Transaction } from '#kernel/database.ts'

export function findSession(db: Database, sessionId: string) {
  return db
    .selectFrom('session')
    .select([
      'session_id as sessionId',
      'token_sha256 as tokenSha256',
      'user_id as userId',
      'auth_time as authTime',
      'last_seen_at as lastSeenAt',
      'ends_at as endsAt',
    ])
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
}

type NewSession = {
  sessionId: string
  tokenSha256: Uint8Array
  userId: string
  userAgent: string | undefined
  endsAt: Date
  now: Date
}

export async function insertSession(
  tx: Transaction,
  { sessionId, tokenSha256, userId, userAgent, endsAt, now }: NewSession,
) {
  await tx
    .insertInto('session')
    .values({
      session_id: sessionId,
      token_sha256: tokenSha256,
      user_id: userId,
      user_agent: userAgent?.slice(0, 300) ?? null,
      created_at: now,
      auth_time: now,
      last_seen_at: now,
      ends_at: endsAt,
    })
    .execute()
}

export async function deleteSession(db: Database | Transaction, sessionId: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('session')
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function touchSession(db: Database, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('session').set({ last_seen_at: now }).where('session_id', '=', sessionId).execute()
}

export async function setAuthTime(db: Database | Transaction, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('session').set({ auth_time: now }).where('session_id', '=', sessionId).execute()
}

/** Deletes up to `batch` sessions that have ended, and says how many. */
export async function deleteEndedSessions(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db.selectFrom('session').select('session_id').where('ends_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db.deleteFrom('session').where('session_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
