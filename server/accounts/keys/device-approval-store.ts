import type { ExpressionBuilder } from 'kysely'
import type { SessionId, UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'

/** Primary key of a device approval. */
type DeviceApprovalKey = { userId: UserId; approvalId: string }
type Expressions = ExpressionBuilder<Tables, 'encryption_device_approval'>

/** Builds the condition that an approval has not expired and its requesting session still exists. */
function isLive(now: Date) {
  return ({ eb, and, exists, selectFrom }: Expressions) =>
    and([
      eb('encryption_device_approval.expires_at', '>', now),
      exists(
        selectFrom('session')
          .select('session.session_id')
          .whereRef('session.session_id', '=', 'encryption_device_approval.requesting_session_id'),
      ),
    ])
}

const ofPlace =
  ({ userId, approvalId }: DeviceApprovalKey, now: Date) =>
  (expressions: Expressions) =>
    expressions.and([
      expressions.eb('encryption_device_approval.user_id', '=', userId),
      expressions.eb('encryption_device_approval.approval_id', '=', approvalId),
      isLive(now)(expressions),
    ])

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
    .where('user_id', '=', userId)
    .where(isLive(now))
    .executeTakeFirstOrThrow()
  return { count: Number(count), firstExpiry: firstExpiry ?? now }
}

/** Lists a user's unanswered approvals, except those that this session requested. */
export function listPendingApprovals(db: Database, userId: UserId, sessionId: SessionId, now: Date) {
  return db
    .selectFrom('encryption_device_approval')
    .innerJoin('session', 'session.session_id', 'encryption_device_approval.requesting_session_id')
    .select([
      'approval_id as approvalId',
      'commitment',
      'session.user_agent as userAgent',
      'encryption_device_approval.created_at as createdAt',
      'encryption_device_approval.expires_at as expiresAt',
    ])
    .where('encryption_device_approval.user_id', '=', userId)
    .where('requesting_session_id', '<>', sessionId)
    .where('approving_session_id', 'is', null)
    .where('encryption_device_approval.expires_at', '>', now)
    .orderBy('encryption_device_approval.created_at')
    .orderBy('approval_id')
    .execute()
}

export function findApproval(db: Database | Transaction, place: DeviceApprovalKey, now: Date) {
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
    .where(ofPlace(place, now))
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
    .where(ofPlace(place, now))
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
    .where(ofPlace(place, now))
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
    .where(ofPlace(place, now))
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
    .where(ofPlace(place, now))
    .where('requesting_session_id', '=', sessionId)
    .where('ciphertext', 'is not', null)
    .returning('ciphertext')
    .executeTakeFirst()
  return taken?.ciphertext ?? undefined
}

export async function deleteApproval(db: Database, place: DeviceApprovalKey, now: Date): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('encryption_device_approval')
    .where(ofPlace(place, now))
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
