import type { ExpressionBuilder } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'

/** An approval of a person; nobody else has one of this id. */
type Place = { userId: string; approvalId: string }
type Expressions = ExpressionBuilder<Tables, 'encryption_device_approval'>

/** One that has neither expired, nor lost the session that asked. */
function isLive(now: Date) {
  return ({ eb, and, exists, selectFrom }: Expressions) =>
    and([
      eb('encryption_device_approval.expires_at', '>', now),
      exists(
        selectFrom('session')
          .select('session.session_id')
          .whereRef('session.session_id', '=', 'encryption_device_approval.asking_session_id'),
      ),
    ])
}

const ofPlace =
  ({ userId, approvalId }: Place, now: Date) =>
  (expressions: Expressions) =>
    expressions.and([
      expressions.eb('encryption_device_approval.user_id', '=', userId),
      expressions.eb('encryption_device_approval.approval_id', '=', approvalId),
      isLive(now)(expressions),
    ])

type NewApproval = Place & { sessionId: string; commitment: Uint8Array; createdAt: Date; expiresAt: Date }

export async function insertApproval(tx: Transaction, approval: NewApproval): Promise<void> {
  await tx
    .insertInto('encryption_device_approval')
    .values({
      user_id: approval.userId,
      approval_id: approval.approvalId,
      asking_session_id: approval.sessionId,
      commitment: approval.commitment,
      created_at: approval.createdAt,
      expires_at: approval.expiresAt,
    })
    .execute()
}

export async function countApprovals(tx: Transaction, userId: string, now: Date) {
  const { count, firstExpiry } = await tx
    .selectFrom('encryption_device_approval')
    .select(({ fn }) => [fn.countAll<string>().as('count'), fn.min('expires_at').as('firstExpiry')])
    .where('user_id', '=', userId)
    .where(isLive(now))
    .executeTakeFirstOrThrow()
  return { count: Number(count), firstExpiry: firstExpiry ?? now }
}

/** The approvals of a person that nobody has answered, but for those that this session asks for itself. */
export function listUnanswered(db: Database, userId: string, sessionId: string, now: Date) {
  return db
    .selectFrom('encryption_device_approval')
    .innerJoin('session', 'session.session_id', 'encryption_device_approval.asking_session_id')
    .select([
      'approval_id as approvalId',
      'commitment',
      'session.user_agent as userAgent',
      'encryption_device_approval.created_at as createdAt',
      'expires_at as expiresAt',
    ])
    .where('encryption_device_approval.user_id', '=', userId)
    .where('asking_session_id', '<>', sessionId)
    .where('answering_session_id', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('encryption_device_approval.created_at')
    .orderBy('approval_id')
    .execute()
}

export function findApproval(db: Database | Transaction, place: Place, now: Date) {
  return db
    .selectFrom('encryption_device_approval')
    .select([
      'approval_id as approvalId',
      'asking_session_id as askingSessionId',
      'answering_session_id as answeringSessionId',
      'answer_public_key as answerPublicKey',
      'public_key as publicKey',
      'nonce',
      'ciphertext',
      'expires_at as expiresAt',
    ])
    .where(ofPlace(place, now))
    .executeTakeFirst()
}

type Sent<Values> = Place & { sessionId: string } & Values

/** The first answer of another session than the one that asked; false where this is none. */
export async function setAnswer(
  db: Database,
  { sessionId, publicKey, ...place }: Sent<{ publicKey: Uint8Array }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('encryption_device_approval')
    .set({ answering_session_id: sessionId, answer_public_key: publicKey })
    .where(ofPlace(place, now))
    .where('asking_session_id', '<>', sessionId)
    .where('answering_session_id', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** What the session that asked has committed itself to, once it was answered; false where this is not so. */
export async function setOpening(
  db: Database,
  { sessionId, publicKey, nonce, ...place }: Sent<{ publicKey: Uint8Array; nonce: Uint8Array }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('encryption_device_approval')
    .set({ public_key: publicKey, nonce })
    .where(ofPlace(place, now))
    .where('asking_session_id', '=', sessionId)
    .where('answering_session_id', 'is not', null)
    .where('public_key', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** What the session that answered seals for the one that asked, once; false where this is not so. */
export async function setCiphertext(
  tx: Transaction,
  { sessionId, ciphertext, ...place }: Sent<{ ciphertext: string }>,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('encryption_device_approval')
    .set({ ciphertext })
    .where(ofPlace(place, now))
    .where('answering_session_id', '=', sessionId)
    .where('public_key', 'is not', null)
    .where('ciphertext', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Takes an approval out with what was sealed for the session that asked; undefined where nothing is there for it. */
export async function takeCiphertext(
  db: Database,
  { sessionId, ...place }: Sent<object>,
  now: Date,
): Promise<string | undefined> {
  const taken = await db
    .deleteFrom('encryption_device_approval')
    .where(ofPlace(place, now))
    .where('asking_session_id', '=', sessionId)
    .where('ciphertext', 'is not', null)
    .returning('ciphertext')
    .executeTakeFirst()
  return taken?.ciphertext ?? undefined
}

export async function deleteApproval(db: Database, place: Place, now: Date): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('encryption_device_approval')
    .where(ofPlace(place, now))
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

export async function deleteApprovalsOfUser(tx: Transaction, userId: string): Promise<void> {
  await tx.deleteFrom('encryption_device_approval').where('user_id', '=', userId).execute()
}

/** Deletes up to `batch` approvals that have expired, and says how many. */
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
