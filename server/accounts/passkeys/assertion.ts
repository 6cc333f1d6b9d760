import type { AuthenticationResponse } from '@countersign/protocol/accounts/passkeys'
import type { UserId } from '@countersign/protocol/ids'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import { lockUser } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Transaction, transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { rejectCrossOrigin, userHandleOf } from './ceremony.ts'
import * as store from './store.ts'

export const errors = defineErrors({
  invalid_credential: [401, 'The passkey is unknown or its signature is invalid. Try another one.'],
})

/** A passkey with a verified assertion, in the state that the authenticator reports. */
type VerifiedAssertion = { userId: UserId; credentialId: string; signCount: number; backedUp: boolean }

type Proof = {
  credential: AuthenticationResponse
  challenge: string
  /** User that the passkey must belong to, if the user is already known. */
  owner?: UserId
}

/**
 * Verifies an assertion and runs the work that it authorizes. Both happen in one transaction with the update of the
 * signature counter, with the user locked. Throws `invalid_credential` for any error of the ceremony, and
 * `unauthorized` if the account was deleted in the meantime.
 */
export async function withVerifiedAssertion<Result extends object>(
  kernel: ServerContext,
  { credential, challenge, owner }: Proof,
  now: Date,
  work: (tx: Transaction, proved: VerifiedAssertion) => Promise<Result>,
): Promise<Result> {
  const proved = await verifyAssertion(kernel, credential, challenge)
  const { userId, credentialId } = proved
  if (owner !== undefined && userId !== owner) throw errors.invalid_credential()
  const done = await transaction(kernel.db, async (tx) => {
    await lockUser(tx, userId)
    return (await store.updateSignCount(tx, proved, now)) ? work(tx, proved) : undefined
  })
  if (done) return done
  // A passkey that was removed in the meantime has no counter to report.
  if (!(await store.findCredential(kernel.db, credentialId))) throw errors.invalid_credential()
  const details = { credentialId }
  await recordAuditEvent(kernel.db, { action: 'passkey.sign_count_regressed', actor: 'system', userId, details }, now)
  throw errors.invalid_credential()
}

/**
 * Verifies an authentication ceremony (WebAuthn §7.2) in which the user chose the credential. The user handle is
 * therefore required and must be the owner's.
 */
async function verifyAssertion(
  { db, config }: ServerContext,
  sent: AuthenticationResponse,
  challenge: string,
): Promise<VerifiedAssertion> {
  const { authenticatorAttachment: _unused, ...response } = sent
  rejectCrossOrigin(response.response.clientDataJSON, errors.invalid_credential)
  const credential = await store.findCredential(db, response.id)
  if (!credential || response.response.userHandle !== userHandleOf(credential.userId)) throw errors.invalid_credential()

  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: config.authUrl.origin,
    expectedRPID: config.relyingPartyId,
    requireUserVerification: true,
    credential: {
      id: credential.credentialId,
      publicKey: new Uint8Array(credential.publicKey),
      // The library would throw if the counter went backwards. The transaction checks the counter, and the audit log
      // records it.
      counter: 0,
    },
    // The library reports the reason by throwing. Callers only learn that the assertion is invalid.
  }).catch((): { verified: false; authenticationInfo?: undefined } => ({ verified: false }))
  if (!verified || !authenticationInfo) throw errors.invalid_credential()

  const { newCounter: signCount, credentialBackedUp: backedUp, credentialDeviceType } = authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== credential.backupEligible) throw errors.invalid_credential()
  return { userId: credential.userId, credentialId: credential.credentialId, signCount, backedUp }
}
