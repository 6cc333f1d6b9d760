import { sql, type RawBuilder } from 'kysely'
import type { SessionId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { findKeys } from '#platform/database/distributed/keys.ts'

/** Primary key of a device approval. */
type DeviceApprovalKey = { userId: UserId; approvalId: string }

/** Approvals of a user: all, or one. */
type Approvals = { userId: UserId; approvalId?: string }

/** Finds the sessions that have requested approvals. */
function findRequesters(db: Database | Transaction, { userId, approvalId }: Approvals) {
  const requesters = db
    .selectFrom('encryption_device_approval')
    .select('requesting_session_id')
    .where('user_id', '=', userId)
    .$if(approvalId !== undefined, (one) => one.where('approval_id', '=', approvalId ?? ''))
  return findKeys(db, requesters)
}

/** Builds the condition that an approval is one of these, has not expired, and its requesting session still exists. */
async function isLive(db: Database | Transaction, of: Approvals, now: Date): Promise<RawBuilder<boolean>> {
  const requesters = await findRequesters(db, of)
  const existing = db
    .selectFrom('session')
    .select('session_id')
    .where(sql<boolean>`session_id = any(${requesters})`)
  const isOne = of.approvalId === undefined ? sql`` : sql`and approval_id = ${of.approvalId}`
  return sql`user_id = ${of.userId} ${isOne} and expires_at > ${now}
    and requesting_session_id = any(${await findKeys(db, existing)})`
}

type NewApproval = DeviceApprovalKey & {
  sessionId: SessionId
  commitment: Uint8Array
  createdAt: Date
  expiresAt: Date
}

export async function insertApproval(tx: Transaction, approval: NewApproval): Promise<void> {
  await tx
    .insertInto('encryption_device_approval')
    .values({
      user_id: approval.userId,
      approval_id: approval.approvalId,
      requesting_session_id: approval.sessionId,
      commitment: approval.commitment,
      created_at: approval.createdAt,
      expires_at: approval.expiresAt,
    })
    .execute()
}

export async function countApprovals(tx: Transaction, userId: UserId, now: Date) {
  const { count, firstExpiry } = await tx
    .selectFrom('encryption_device_approval')
    .select(({ fn }) => [fn.countAll<string>().as('count'), fn.min('expires_at').as('firstExpiry')])
    .where(await isLive(tx, { userId }, now))
    .executeTakeFirstOrThrow()
  return { count: Number(count), firstExpiry: firstExpiry ?? now }
}

/** Lists a user's unanswered approvals, except those that this session requested. */
export async function listPendingApprovals(db: Database, userId: UserId, sessionId: SessionId, now: Date) {
  const requesters = await findRequesters(db, { userId })
  return db
    .selectFrom('encryption_device_approval')
    .innerJoin(
      ({ selectFrom }) =>
        selectFrom('session')
          .select(['session.session_id', 'user_agent'])
          .where(sql<boolean>`session_id = any(${requesters})`)
          // A subquery with an offset is read first, and so in other shards.
          .offset(0)
          .as('requester'),
      (join) => join.onRef('requester.session_id', '=', 'requesting_session_id'),
    )
    .select(['approval_id as approvalId', 'commitment', 'user_agent as userAgent'])
    .select(['created_at as createdAt', 'expires_at as expiresAt'])
    .where('user_id', '=', userId)
    .where('requesting_session_id', '<>', sessionId)
    .where('approving_session_id', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('created_at')
    .orderBy('approval_id')
    .execute()
}

export async function findApproval(db: Database | Transaction, place: DeviceApprovalKey, now: Date) {
  return db
    .selectFrom('encryption_device_approval')
    .select([
      'approval_id as approvalId',
      'requesting_session_id as requestingSessionId',
      'approving_session_id as approvingSessionId',
      'approver_public_key as approverPublicKey',
      'requester_public_key as publicKey',
      'nonce',
      'ciphertext',
      'expires_at as expiresAt',
    ])
    .where(await isLive(db, place, now))
    .executeTakeFirst()
}

type ApprovalStepInput<Values> = DeviceApprovalKey & { sessionId: SessionId } & Values

/** Stores the first answer, from another session than the requesting one. Returns false if the step is not allowed. */
export async function setAnswer(
  db: Database,
  { sessionId, publicKey, ...place }: ApprovalStepInput<{ publicKey: Uint8Array }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('encryption_device_approval')
    .set({ approving_session_id: sessionId, approver_public_key: publicKey })
    .where(await isLive(db, place, now))
    .where('requesting_session_id', '<>', sessionId)
    .where('approving_session_id', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Stores the opening of the requesting session's commitment, after the answer. Returns false if the step is not
 * allowed.
 */
export async function setRevealedCommitment(
  db: Database,
  { sessionId, publicKey, nonce, ...place }: ApprovalStepInput<{ publicKey: Uint8Array; nonce: Uint8Array }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('encryption_device_approval')
    .set({ requester_public_key: publicKey, nonce })
    .where(await isLive(db, place, now))
    .where('requesting_session_id', '=', sessionId)
    .where('approving_session_id', 'is not', null)
    .where('requester_public_key', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/**
 * Stores the ciphertext from the approving session for the requesting one, once. Returns false if the step is not
 * allowed.
 */
export async function setCiphertext(
  tx: Transaction,
  { sessionId, ciphertext, ...place }: ApprovalStepInput<{ ciphertext: string }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('encryption_device_approval')
    .set({ ciphertext })
    .where(await isLive(tx, place, now))
    .where('approving_session_id', '=', sessionId)
    .where('requester_public_key', 'is not', null)
    .where('ciphertext', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Deletes an approval and returns the ciphertext for the requesting session, or undefined if there is none for it. */
export async function consumeCiphertext(
  db: Database,
  { sessionId, ...place }: ApprovalStepInput<object>,
  now: Date,
): Promise<string | undefined> {
  const taken = await db
    .deleteFrom('encryption_device_approval')
    .where(await isLive(db, place, now))
    .where('requesting_session_id', '=', sessionId)
    .where('ciphertext', 'is not', null)
    .returning('ciphertext')
    .executeTakeFirst()
  return taken?.ciphertext ?? undefined
}

export async function deleteApproval(db: Database, place: DeviceApprovalKey, now: Date): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('encryption_device_approval')
    .where(await isLive(db, place, now))
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function deleteApprovalsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('encryption_device_approval').where('user_id', '=', userId).execute()
}

/** Deletes up to `batch` expired approvals. Returns their number. */
export async function deleteExpiredApprovals(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('encryption_device_approval')
    .select(['user_id', 'approval_id'])
    .where('expires_at', '<=', now)
    .limit(batch)
    .as('expired')
  const { numDeletedRows } = await db
    .deleteFrom('encryption_device_approval')
    .using(expired)
    .whereRef('encryption_device_approval.user_id', '=', 'expired.user_id')
    .whereRef('encryption_device_approval.approval_id', '=', 'expired.approval_id')
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
