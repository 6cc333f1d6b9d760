import { limits } from '@countersign/protocol/formats/limits'
import type { Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { holdActing } from './acting.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'
import type { Proof } from './store.ts'

const refuse = refusals({ unauthorized: [401, 'Sign in first.'] })

/**
 * Notes that a person has proved their presence again, and for which authorization request if for any. Refuses
 * `unauthorized` where the session has ended.
 */
export async function refreshAuthTime(tx: Transaction, proof: Proof, now: Date): Promise<void> {
  if (!(await store.setProof(tx, proof, now))) throw refuse.unauthorized()
}

/**
 * Takes the proofs of a passkey that is removed from the sessions of a person. The session in which that is done is
 * from then on one of the passkey that has proved their presence in it last, if that is another one.
 */
export async function forgetProofs(
  tx: Transaction,
  { userId, sessionId, credentialId }: { userId: string; sessionId: string; credentialId: string },
): Promise<void> {
  // Before the proof of the session in which that is done goes too.
  await holdActing(tx)
  const proof = await store.findProof(tx, sessionId)
  if (proof?.provedBy && proof.provedBy !== credentialId) await store.setCredentialOfProof(tx, sessionId)
  await store.revertProofs(tx, { userId, credentialId })
}

/** Whether the last proof of presence in a session is no older than what needs a fresh one takes. */
export function isFresh({ authTime }: Pick<Session, 'authTime'>, now: Date): boolean {
  return now.getTime() - authTime.getTime() <= limits.freshAuthenticationSeconds * 1000
}

/** Whether a session that this transaction holds is there still, after what it has ended. */
export async function isOpen(tx: Transaction, sessionId: string): Promise<boolean> {
  return (await store.findAuthTime(tx, sessionId)) !== undefined
}
