import { limits } from '@countersign/protocol/formats/limits'
import type { Database, Transaction } from '#kernel/database.ts'

export function findSession(db: Database, sessionId: string) {
  return db
    .selectFrom('session')
    .select([
      'session_id as sessionId',
      'token_sha256 as tokenSha256',
      'fedcm_sha256 as federatedSha256',
      'user_id as userId',
      'identity_id as identityId',
      'auth_time as authTime',
      'proved_request_sha256 as provedRequestSha256',
      'last_seen_at as lastSeenAt',
      'ends_at as endsAt',
    ])
    .where('session_id', '=', sessionId)
    .executeTakeFirst()
}

type NewSession = {
  sessionId: string
  tokenSha256: Uint8Array
  federatedSha256: Uint8Array | null
  userId: string
  identityId: string | null
  provedRequestSha256: Uint8Array | null
  userAgent: string | undefined
  endsAt: Date
  now: Date
}

export async function insertSession(
  tx: Transaction,
  {
    sessionId,
    tokenSha256,
    federatedSha256,
    userId,
    identityId,
    provedRequestSha256,
    userAgent,
    endsAt,
    now,
  }: NewSession,
) {
  await tx
    .insertInto('session')
    .values({
      session_id: sessionId,
      token_sha256: tokenSha256,
      fedcm_sha256: federatedSha256,
      user_id: userId,
      identity_id: identityId,
      user_agent: userAgent?.slice(0, limits.userAgentCharactersMax) ?? null,
      created_at: now,
      auth_time: now,
      proved_request_sha256: provedRequestSha256,
      last_seen_at: now,
      ends_at: endsAt,
    })
    .execute()
}

export function listSessionsOfUser(db: Database, userId: string) {
  return db
    .selectFrom('session')
    .select([
      'session_id as sessionId',
      'user_agent as userAgent',
      'created_at as createdAt',
      'last_seen_at as lastSeenAt',
      'ends_at as endsAt',
    ])
    .where('user_id', '=', userId)
    .orderBy('last_seen_at', 'desc')
    .orderBy('session_id')
    .execute()
}

export async function deleteSession(tx: Transaction, userId: string, sessionId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('session')
    .where('session_id', '=', sessionId)
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Deletes the session of a token; undefined where there is none. */
export function deleteSessionOfToken(tx: Transaction, sessionId: string, tokenSha256: Uint8Array) {
  return tx
    .deleteFrom('session')
    .where('session_id', '=', sessionId)
    .where('token_sha256', '=', tokenSha256)
    .returning('user_id as userId')
    .executeTakeFirst()
}

/** The id of a session, if it is also by what else is known of it, for another statement. */
export function selectSession(
  tx: Transaction,
  { sessionId, ...known }: { sessionId: string; userId?: string; tokenSha256?: Uint8Array },
) {
  const { userId, tokenSha256 } = known
  return tx
    .selectFrom('session')
    .select('session.session_id')
    .where('session.session_id', '=', sessionId)
    .$if(userId !== undefined, (some) => some.where('user_id', '=', userId ?? ''))
    .$if(tokenSha256 !== undefined, (some) => some.where('token_sha256', '=', tokenSha256 ?? new Uint8Array()))
}

/** The ids of the sessions of a person, all but `kept`, for another statement. */
export function selectSessionsOfUser(tx: Transaction, userId: string, kept?: string) {
  const all = tx.selectFrom('session').select('session.session_id').where('user_id', '=', userId)
  return kept === undefined ? all : all.where('session.session_id', '!=', kept)
}

/** Deletes the sessions of a person, all but `kept`, and answers their ids. */
export async function deleteOtherSessions(tx: Transaction, userId: string, kept?: string): Promise<string[]> {
  const all = tx.deleteFrom('session').where('user_id', '=', userId)
  const others = kept === undefined ? all : all.where('session_id', '!=', kept)
  const rows = await others.returning('session_id as sessionId').execute()
  return rows.map(({ sessionId }) => sessionId)
}

export async function touchSession(db: Database, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('session').set({ last_seen_at: now }).where('session_id', '=', sessionId).execute()
}

export async function setAuthTime(
  db: Database | Transaction,
  { sessionId, provedRequestSha256 }: { sessionId: string; provedRequestSha256: Uint8Array | null },
  now: Date,
): Promise<void> {
  await db
    .updateTable('session')
    .set({ auth_time: now, proved_request_sha256: provedRequestSha256 })
    .where('session_id', '=', sessionId)
    .execute()
}

/** Deletes up to `batch` sessions that have ended or were last seen before that instant, and says how many. */
export async function deleteEndedSessions(
  db: Database,
  { now, lastSeen }: { now: Date; lastSeen: Date },
  batch: number,
): Promise<number> {
  const ended = db
    .selectFrom('session')
    .select('session_id')
    .where(({ eb, or }) => or([eb('ends_at', '<=', now), eb('last_seen_at', '<=', lastSeen)]))
    .limit(batch)
  const { numDeletedRows } = await db.deleteFrom('session').where('session_id', 'in', ended).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
