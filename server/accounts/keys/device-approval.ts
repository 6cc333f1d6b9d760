import { randomUUIDv7 } from 'node:crypto'
import type { DeviceApproval, Opening, WaitingDevice } from '@countersign/protocol/accounts/device-approvals'
import { limits } from '@countersign/protocol/formats/limits'
import { actingPersonTransaction } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter, secondsUntil } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import * as store from './device-approval-store.ts'

const refuse = refusals({
  wrong_session: [403, 'This is for another of your sessions: one asks, and a different one answers.'],
  approval_not_found: [404, 'No device asks for this, or not any more.'],
  out_of_turn: [409, 'This was done already, or something else comes before it.'],
  too_many_pending: [429, 'Too many of your devices ask already. Wait a little and try again.'],
})

/**
 * Two devices of a person agree on a key through us: the one that asks commits itself to its half, the other answers
 * with its own, and only then the first one shows what it had committed itself to. Each step is taken once, in turn. We
 * see public keys, and a ciphertext to which we have no key; that nobody stands between the two, they see by six digits
 * that their owner carries across.
 */
export async function askForApproval(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  session: Session,
  commitment: string,
  now: Date,
) {
  const { userId, sessionId } = session
  await rateLimits.count('device approval of a person', ownKey(session, now))
  const approvalId = randomUUIDv7()
  const expiresAt = secondsAfter(now, limits.deviceApprovalLifetimeSeconds)
  const approval = { userId, approvalId, sessionId, commitment: bytesOf(commitment), createdAt: now, expiresAt }
  return actingPersonTransaction(db, session, async (tx) => {
    const { count, firstExpiry } = await store.countApprovals(tx, userId, now)
    if (count >= limits.deviceApprovalsMax)
      throw refuse.too_many_pending({ headers: { 'retry-after': String(secondsUntil(now, firstExpiry)) } })
    await store.insertApproval(tx, approval)
    const details = { approvalId }
    await record(tx, { action: 'account.device_approval_asked', actor: 'person', userId, details }, now)
    return { approvalId, expiresAt: expiresAt.toISOString() }
  })
}

/** The devices of a person that ask, and that nobody has answered; the one that looks is none of them. */
export async function listWaitingDevices(
  db: Database,
  { userId, sessionId }: Session,
  now: Date,
): Promise<WaitingDevice[]> {
  const waiting = await store.listUnanswered(db, userId, sessionId, now)
  return waiting.map(({ commitment, createdAt, expiresAt, ...device }) => ({
    ...device,
    commitment: textOf(commitment),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }))
}

/** How far two devices have come. Refuses `approval_not_found`. */
export async function readApproval(
  db: Database,
  { userId }: Session,
  approvalId: string,
  now: Date,
): Promise<DeviceApproval> {
  const found = await store.findApproval(db, { userId, approvalId }, now)
  if (!found) throw refuse.approval_not_found()
  const { answerPublicKey, publicKey, nonce } = found
  return {
    approvalId,
    expiresAt: found.expiresAt.toISOString(),
    answer: answerPublicKey && { publicKey: textOf(answerPublicKey) },
    opening: publicKey && nonce && { publicKey: textOf(publicKey), nonce: textOf(nonce) },
    sealed: found.ciphertext !== null,
  }
}

/** Refuses `approval_not_found`, `wrong_session`, `out_of_turn`. */
export async function answerApproval(
  db: Database,
  session: Session,
  { approvalId, publicKey }: { approvalId: string; publicKey: string },
  now: Date,
): Promise<void> {
  await actingTransaction(db, session, async (tx) => {
    const answered = await store.setAnswer(tx, { ...session, approvalId, publicKey: bytesOf(publicKey) }, now)
    if (!answered) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofOthers }, now)
  })
}

/** Refuses as `answerApproval` does. Whether it is what was committed to, the device that answered looks itself. */
export async function openCommitment(
  db: Database,
  session: Session,
  { approvalId, publicKey, nonce }: { approvalId: string } & Opening,
  now: Date,
): Promise<void> {
  const opening = { publicKey: bytesOf(publicKey), nonce: bytesOf(nonce) }
  await actingTransaction(db, session, async (tx) => {
    const opened = await store.setOpening(tx, { ...session, approvalId, ...opening }, now)
    if (!opened) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofAsker }, now)
  })
}

/** Refuses as `answerApproval` does, and `reauthentication_required`. */
export async function sealForDevice(
  db: Database,
  session: Session,
  { approvalId, ciphertext }: { approvalId: string; ciphertext: string },
  now: Date,
): Promise<void> {
  requireFresh(session, now)
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    const sealed = await store.setCiphertext(tx, { ...session, approvalId, ciphertext }, now)
    if (!sealed) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofAnswerer }, now)
    const details = { approvalId }
    await record(tx, { action: 'account.device_approved', actor: 'person', userId, details }, now)
  })
}

/** Gives the device that asked what was sealed for it, once. Refuses as `answerApproval` does. */
export async function takeSealed(db: Database, session: Session, approvalId: string, now: Date): Promise<string> {
  return actingTransaction(db, session, async (tx) => {
    const ciphertext = await store.takeCiphertext(tx, { ...session, approvalId }, now)
    if (ciphertext === undefined) throw await refusalOf(tx, { ...session, approvalId, isTurn: ofAsker }, now)
    return ciphertext
  })
}

/** Any session of the person may put an end to it. Refuses `approval_not_found`. */
export async function cancelApproval(db: Database, session: Session, approvalId: string, now: Date): Promise<void> {
  const { userId } = session
  await actingTransaction(db, session, async (tx) => {
    if (!(await store.deleteApproval(tx, { userId, approvalId }, now))) throw refuse.approval_not_found()
  })
}

/** Deletes up to `batch` approvals that have expired, and says how many. */
export function pruneDeviceApprovals(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredApprovals(db, now, batch)
}

type Roles = { askingSessionId: string; answeringSessionId: string | null }
/** Whether a step belongs to the session that asked, to that which answered, or to any that did not ask. */
type Turn = (roles: Roles, sessionId: string) => boolean
const ofAsker: Turn = ({ askingSessionId }, sessionId) => askingSessionId === sessionId
const ofAnswerer: Turn = ({ answeringSessionId }, sessionId) => answeringSessionId === sessionId
const ofOthers: Turn = ({ askingSessionId }, sessionId) => askingSessionId !== sessionId
type Step = Session & { approvalId: string; isTurn: Turn }

/** Why a step could not be taken. */
async function refusalOf(tx: Transaction, { isTurn, ...step }: Step, now: Date) {
  const found = await store.findApproval(tx, step, now)
  if (!found) return refuse.approval_not_found()
  return isTurn(found, step.sessionId) ? refuse.out_of_turn() : refuse.wrong_session()
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64url')
}
