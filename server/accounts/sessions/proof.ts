import { limits } from '@countersign/protocol/formats/limits'
import type { SessionId, UserId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import { holdActing } from './acting.ts'
import type { Session } from './session.ts'
import * as store from './store.ts'
import type { Proof } from './store.ts'

const errors = defineErrors({ unauthorized: [401, 'Authentication required.'] })

/**
 * Records that a user has authenticated again, and for which authorization request if any. Throws `unauthorized` if the
 * session has ended.
 */
export async function refreshAuthTime(tx: Transaction, proof: Proof, now: Date): Promise<void> {
  if (!(await store.setProof(tx, proof, now))) throw errors.unauthorized()
}

/**
 * Revokes authentications by a removed passkey in a user's sessions. The current session then belongs to the passkey
 * that authenticated in it last, if that is another one.
 */
export async function forgetProofs(
  tx: Transaction,
  { userId, sessionId, credentialId }: { userId: UserId; sessionId: SessionId; credentialId: string },
): Promise<void> {
  // Must run before the authentication of the current session is revoked too.
  await holdActing(tx)
  const proof = await store.findProof(tx, sessionId)
  if (proof?.provedBy && proof.provedBy !== credentialId) await store.setCredentialOfProof(tx, sessionId)
  await store.revertProofs(tx, { userId, credentialId })
}

/** Returns the passkey that authenticated last in a session, or undefined. */
export async function provingPasskey(tx: Transaction, sessionId: SessionId): Promise<string | undefined> {
  return (await store.findProof(tx, sessionId))?.provedBy ?? undefined
}

/** Lifts the limit of the sessions that a recovered passkey has opened: it has become one of the account. */
export async function removeLimitOf(tx: Transaction, of: { userId: UserId; credentialId: string }): Promise<void> {
  await holdActing(tx)
  await store.removeLimit(tx, of)
}

/** Checks whether the last authentication in a session is recent enough for sensitive actions. */
export function isRecentlyAuthenticated({ authTime }: Pick<Session, 'authTime'>, now: Date): boolean {
  return now.getTime() - authTime.getTime() <= limits.freshAuthenticationSeconds * 1000
}

/** Checks whether a session still exists after this transaction ended sessions. */
export async function isOpen(tx: Transaction, sessionId: SessionId): Promise<boolean> {
  return (await store.findAuthTime(tx, sessionId)) !== undefined
}
