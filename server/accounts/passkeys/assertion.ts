import type { AuthenticationResponse } from '@countersign/protocol/accounts/webauthn'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import { holdPerson } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { transaction, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { requireSameFrame } from './client-data.ts'
import { userHandleOf } from './options.ts'
import * as store from './store.ts'

export const refuse = refusals({ invalid_credential: [401, 'This passkey does not sign in here. Try another one.'] })

/** A passkey that has just signed, as the authenticator says it is now. */
type Proved = { userId: string; credentialId: string; signCount: number; backedUp: boolean }

type Proof = {
  credential: AuthenticationResponse
  challenge: string
  /** Whose passkey it must be, where the person is known before. */
  owner?: string
}

/**
 * Verifies an authentication ceremony and does the work that it allows, in one transaction with the passkey's counter,
 * which holds the person. Refuses `invalid_credential`, whatever was wrong, and `unauthorized` where they have gone
 * meanwhile.
 */
export async function withProof<Result extends object>(
  kernel: Kernel,
  { credential, challenge, owner }: Proof,
  now: Date,
  work: (tx: Transaction, proved: Proved) => Promise<Result>,
): Promise<Result> {
  const proved = await verifyAssertion(kernel, credential, challenge)
  const { userId, credentialId } = proved
  if (owner !== undefined && userId !== owner) throw refuse.invalid_credential()
  const done = await transaction(kernel.db, async (tx) => {
    await holdPerson(tx, userId)
    return (await store.useCredential(tx, proved, now)) ? work(tx, proved) : undefined
  })
  if (done) return done
  // The one that was removed in between has no counter to speak of.
  if (!(await store.findCredential(kernel.db, credentialId))) throw refuse.invalid_credential()
  const details = { credentialId }
  await record(kernel.db, { action: 'passkey.counter_went_back', actor: 'system', userId, details }, now)
  throw refuse.invalid_credential()
}

/**
 * Verifies an authentication ceremony (WebAuthn §7.2) whose credential the person has chosen themselves: so the user
 * handle must be there, and be the owner's.
 */
async function verifyAssertion(
  { db, config }: Kernel,
  sent: AuthenticationResponse,
  challenge: string,
): Promise<Proved> {
  const { authenticatorAttachment: _unused, ...response } = sent
  requireSameFrame(response.response.clientDataJSON, refuse.invalid_credential)
  const credential = await store.findCredential(db, response.id)
  if (!credential || response.response.userHandle !== userHandleOf(credential.userId)) throw refuse.invalid_credential()

  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: config.authUrl.origin,
    expectedRPID: config.relyingPartyId,
    requireUserVerification: true,
    credential: {
      id: credential.credentialId,
      publicKey: new Uint8Array(credential.publicKey),
      // The library would throw for a counter that went back; the transaction decides that, and it is recorded.
      counter: 0,
    },
    // What is wrong it says by throwing; the caller is told no more than that something is.
  }).catch((): { verified: false; authenticationInfo?: undefined } => ({ verified: false }))
  if (!verified || !authenticationInfo) throw refuse.invalid_credential()

  const { newCounter: signCount, credentialBackedUp: backedUp, credentialDeviceType } = authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== credential.backupEligible) throw refuse.invalid_credential()
  return { userId: credential.userId, credentialId: credential.credentialId, signCount, backedUp }
}
