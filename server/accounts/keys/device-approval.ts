import { randomUUIDv7 } from 'node:crypto'
import type {
  DeviceApproval,
  CommitmentOpening,
  PendingDeviceApproval,
} from '@countersign/protocol/accounts/device-approvals'
import { limits } from '@countersign/protocol/formats/limits'
import type { SessionId, UserId } from '@countersign/protocol/ids'
import { actingUserTransaction } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds, secondsUntil } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireRecentAuthentication, type PasskeySession } from '#accounts/sessions/session.ts'
import * as store from './device-approval-store.ts'

const errors = defineErrors({
  device_approval_wrong_session: [403, 'This step belongs to the other session of the device approval.'],
  device_approval_not_found: [404, 'The device approval does not exist or has ended.'],
  approval_step_out_of_order: [409, 'This step was already completed, or another step comes first.'],
  too_many_pending: [429, 'Too many pending device approvals. Try again later.'],
})

/**
 * Requests a device approval, in which two devices of a user agree on a key through this service. The requesting device
 * commits to its public key, the approving device answers with its own, and then the first one opens the commitment.
 * Each step happens once, in order. The service sees public keys and a ciphertext that it cannot decrypt. Users detect
 * an attacker in the middle by comparing six digits on both devices.
 */
export async function requestDeviceApproval(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  session: PasskeySession,
  commitment: string,
  now: Date,
) {
  const { userId, sessionId } = session
  await rateLimits.count('device-approvals-per-user', ownKey(session, now))
  const approvalId = randomUUIDv7()
  const expiresAt = addSeconds(now, limits.deviceApprovalLifetimeSeconds)
  const approval = { userId, approvalId, sessionId, commitment: bytesOf(commitment), createdAt: now, expiresAt }
  return actingUserTransaction(db, session, async (tx) => {
    const { count, firstExpiry } = await store.countApprovals(tx, userId, now)
    if (count >= limits.deviceApprovalsMax)
      throw errors.too_many_pending({ headers: { 'retry-after': String(secondsUntil(now, firstExpiry)) } })
    await store.insertApproval(tx, approval)
    const details = { approvalId }
    await recordAuditEvent(tx, { action: 'account.device_approval.requested', actor: 'user', userId, details }, now)
    return { approvalId, expiresAt: expiresAt.toISOString() }
  })
}

/** Lists the unanswered approvals of a user, except those that this session requested. */
export async function listPendingDeviceApprovals(
  db: Database,
  { userId, sessionId }: PasskeySession,
  now: Date,
): Promise<PendingDeviceApproval[]> {
  const waiting = await store.listPendingApprovals(db, userId, sessionId, now)
  return waiting.map(({ commitment, createdAt, expiresAt, ...device }) => ({
    ...device,
    commitment: textOf(commitment),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }))
}

/** Returns the state of a device approval. Throws `device_approval_not_found`. */
export async function getDeviceApproval(
  db: Database,
  { userId }: PasskeySession,
  approvalId: string,
  now: Date,
): Promise<DeviceApproval> {
  const found = await store.findApproval(db, { userId, approvalId }, now)
  if (!found) throw errors.device_approval_not_found()
  const { approverPublicKey, publicKey, nonce } = found
  return {
    approvalId,
    expiresAt: found.expiresAt.toISOString(),
    answer: approverPublicKey && { publicKey: textOf(approverPublicKey) },
    opening: publicKey && nonce && { publicKey: textOf(publicKey), nonce: textOf(nonce) },
    sealed: found.ciphertext !== null,
  }
}

/**
 * Stores the public key of the approving device. Throws `device_approval_not_found`, `device_approval_wrong_session` or
 * `approval_step_out_of_order`.
 */
export async function submitApproverKey(
  db: Database,
  session: PasskeySession,
  { approvalId, publicKey }: { approvalId: string; publicKey: string },
  now: Date,
): Promise<void> {
  await actingTransaction(db, session, async (tx) => {
    const answered = await store.setAnswer(tx, { ...session, approvalId, publicKey: bytesOf(publicKey) }, now)
    if (!answered) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofOthers }, now)
  })
}

/** Stores the opening of the commitment. The approving device verifies it. Throws like `submitApproverKey`. */
export async function revealCommitment(
  db: Database,
  session: PasskeySession,
  { approvalId, publicKey, nonce }: { approvalId: string } & CommitmentOpening,
  now: Date,
): Promise<void> {
  const opening = { publicKey: bytesOf(publicKey), nonce: bytesOf(nonce) }
  await actingTransaction(db, session, async (tx) => {
    const opened = await store.setRevealedCommitment(tx, { ...session, approvalId, ...opening }, now)
    if (!opened) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofRequester }, now)
  })
}

/**
 * Stores the wrapped master key for the requesting device. Throws like `submitApproverKey`, or
 * `reauthentication_required`.
 */
export async function submitWrappedMasterKey(
  db: Database,
  session: PasskeySession,
  { approvalId, ciphertext }: { approvalId: string; ciphertext: string },
  now: Date,
): Promise<void> {
  requireRecentAuthentication(session, now)
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    const sealed = await store.setCiphertext(tx, { ...session, approvalId, ciphertext }, now)
    if (!sealed) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofAnswerer }, now)
    const details = { approvalId }
    await recordAuditEvent(tx, { action: 'account.device_approval.approved', actor: 'user', userId, details }, now)
  })
}

/** Returns the wrapped master key to the requesting device, once. Throws like `submitApproverKey`. */
export async function consumeWrappedMasterKey(
  db: Database,
  session: PasskeySession,
  approvalId: string,
  now: Date,
): Promise<string> {
  return actingTransaction(db, session, async (tx) => {
    const ciphertext = await store.consumeCiphertext(tx, { ...session, approvalId }, now)
    if (ciphertext === undefined) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofRequester }, now)
    return ciphertext
  })
}

/** Cancels a device approval from any session of the user. Throws `device_approval_not_found`. */
export async function cancelDeviceApproval(
  db: Database,
  session: PasskeySession,
  approvalId: string,
  now: Date,
): Promise<void> {
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    if (!(await store.deleteApproval(tx, { userId, approvalId }, now))) throw errors.device_approval_not_found()
  })
}

/** Deletes the approvals of a user whose account is being suspended. */
export function deleteDeviceApprovals(tx: Transaction, userId: UserId): Promise<void> {
  return store.deleteApprovalsOfUser(tx, userId)
}

/** Deletes up to `batch` expired approvals. Returns their number. */
export function pruneDeviceApprovals(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredApprovals(db, now, batch)
}

type Roles = { requestingSessionId: SessionId; approvingSessionId: SessionId | null }
/**
 * Decides whether a step belongs to a session: the requesting one, the approving one, or any other than the requesting
 * one.
 */
type ApprovalStep = (roles: Roles, sessionId: SessionId) => boolean
const ofRequester: ApprovalStep = ({ requestingSessionId }, sessionId) => requestingSessionId === sessionId
const ofAnswerer: ApprovalStep = ({ approvingSessionId }, sessionId) => approvingSessionId === sessionId
const ofOthers: ApprovalStep = ({ requestingSessionId }, sessionId) => requestingSessionId !== sessionId
type Step = PasskeySession & { approvalId: string; isTurn: ApprovalStep }

/** Returns the error for a step that was not allowed. */
async function refusalOf(tx: Transaction, { isTurn, ...step }: Step, now: Date) {
  const found = await store.findApproval(tx, step, now)
  if (!found) return errors.device_approval_not_found()
  return isTurn(found, step.sessionId) ? errors.approval_step_out_of_order() : errors.device_approval_wrong_session()
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
