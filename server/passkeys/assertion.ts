import type { AuthenticationResponse } from '@countersign/protocol/webauthn'
import { verifyAuthenticationResponse } from '@simplewebauthn/server'
import { record } from '#kernel/audit.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { requireSameFrame } from './client-data.ts'
import { userHandleOf } from './options.ts'
import { findCredential, type Credential } from './store.ts'

export const refuse = refusals({ invalid_credential: [401, 'This passkey does not sign in here. Try another one.'] })

/** A passkey that has just been used, as the authenticator says it is now. */
export type Proved = { userId: string; credentialId: string; signCount: number; backedUp: boolean }

/**
 * Verifies an authentication ceremony (WebAuthn §7.2) whose credential the person has chosen themselves: so the user
 * handle must be there, and be the owner's. Refuses `invalid_credential`, whatever was wrong.
 */
export async function verifyAssertion(
  kernel: Kernel,
  sent: AuthenticationResponse,
  challenge: string,
): Promise<Proved> {
  const { db, config } = kernel
  const { authenticatorAttachment: _unused, ...response } = sent
  requireSameFrame(response.response.clientDataJSON, refuse.invalid_credential)
  const credential = await findCredential(db, response.id)
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
      // The library would throw for a counter that went back; we want to know it, and to record it.
      counter: 0,
    },
  }).catch((): { verified: false; authenticationInfo?: undefined } => ({ verified: false }))
  if (!verified || !authenticationInfo) throw refuse.invalid_credential()

  const { newCounter: signCount, credentialBackedUp: backedUp, credentialDeviceType } = authenticationInfo
  if ((credentialDeviceType === 'multiDevice') !== credential.backupEligible) throw refuse.invalid_credential()
  if (!advances(signCount, credential)) {
    await recordCounterWentBack(kernel, credential)
    throw refuse.invalid_credential()
  }
  return { userId: credential.userId, credentialId: credential.credentialId, signCount, backedUp }
}

/** A counter that does not advance is a sign of a copied key; synced passkeys do not count, and stay at zero. */
function advances(signCount: number, credential: Credential): boolean {
  const stored = Number(credential.signCount)
  return signCount > stored || (signCount === 0 && stored === 0)
}

async function recordCounterWentBack({ db, clock }: Kernel, { userId, credentialId }: Credential): Promise<void> {
  await record(db, { action: 'passkey.counter_went_back', actor: 'system', userId, details: { credentialId } }, clock())
}
