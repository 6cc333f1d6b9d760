import { sql } from 'kysely'
import { limits } from '@countersign/protocol/formats/limits'
import type { Database, Transaction } from '#platform/database/database.ts'

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

export type NewSession = {
  sessionId: string
  tokenSha256: Uint8Array
  federatedSha256: Uint8Array | null
  userId: string
  identityId: string | null
  provedRequestSha256: Uint8Array | null
  /** By which passkey it is opened, or by which connection of which organization. */
  openedBy: { credentialId: string } | { organizationId: string; connectionId: string }
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
    openedBy,
    userAgent,
    endsAt,
    now,
  }: NewSession,
) {
  const origin =
    'credentialId' in openedBy
      ? { credential_id: openedBy.credentialId, proved_by: openedBy.credentialId }
      : { organization_id: openedBy.organizationId, connection_id: openedBy.connectionId }
  await tx
    .insertInto('session')
    .values({
      ...origin,
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

/**
 * Locks a session until the transaction ends; undefined where there is none. Who waits for it is served in turn: a lock
 * that several could share would let them keep it for ever from who ends it. Fails as a conflict of transactions
 * (`55P03`) where it takes longer than `patienceMilliseconds`.
 */
export async function lockSession(
  tx: Transaction,
  sessionId: string,
  patienceMilliseconds?: number,
): Promise<{ authTime: Date } | undefined> {
  const session = selectAuthTime(tx, sessionId).forNoKeyUpdate()
  if (patienceMilliseconds === undefined) return session.executeTakeFirst()
  // PostgreSQL has evaluated the condition when it locks the row.
  const limited = sql<boolean>`set_config('lock_timeout', ${String(patienceMilliseconds)}, true) is not null`
  return session.where(limited).executeTakeFirst()
}

/** When the person of a session has last proved to be there, as this transaction sees it; undefined for none. */
export function findAuthTime(tx: Transaction, sessionId: string): Promise<{ authTime: Date } | undefined> {
  return selectAuthTime(tx, sessionId).executeTakeFirst()
}

function selectAuthTime(tx: Transaction, sessionId: string) {
  return tx.selectFrom('session').select('auth_time as authTime').where('session_id', '=', sessionId)
}

export async function touchSession(db: Database, sessionId: string, now: Date): Promise<void> {
  await db.updateTable('session').set({ last_seen_at: now }).where('session_id', '=', sessionId).execute()
}

/** A use of a passkey in a session, and the hash of the reference of the authorization request that it was for. */
export type Proof = { sessionId: string; credentialId: string; provedRequestSha256: Uint8Array | null }

/** Notes that a passkey has proved the person's presence; false where the session has ended. */
export async function setProof(
  tx: Transaction,
  { sessionId, credentialId, provedRequestSha256 }: Proof,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('session')
    .set({ auth_time: now, proved_by: credentialId, proved_request_sha256: provedRequestSha256 })
    .where('session_id', '=', sessionId)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** By which passkey the person of a session has proved their presence last. */
export function findProof(tx: Transaction, sessionId: string) {
  return tx.selectFrom('session').select('proved_by as provedBy').where('session_id', '=', sessionId).executeTakeFirst()
}

/** Gives a session to the passkey that has proved the person's presence in it last. */
export async function setCredentialOfProof(tx: Transaction, sessionId: string): Promise<void> {
  await tx
    .updateTable('session')
    .set(({ ref }) => ({ credential_id: ref('proved_by') }))
    .where('session_id', '=', sessionId)
    .execute()
}

/** Sets the last proof of sessions back to when they were opened, where it was by a passkey that has gone. */
export async function revertProofs(
  tx: Transaction,
  { userId, credentialId }: { userId: string; credentialId: string },
): Promise<void> {
  await tx
    .updateTable('session')
    .set(({ ref }) => ({
      auth_time: ref('created_at'),
      proved_by: ref('credential_id'),
      proved_request_sha256: null,
    }))
    .where('user_id', '=', userId)
    .where('proved_by', '=', credentialId)
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
