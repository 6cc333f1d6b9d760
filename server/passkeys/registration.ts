import { randomUUIDv7 } from 'node:crypto'
import type { Identity } from '@countersign/protocol/identities'
import type { RegistrationFinish, RegistrationStarted } from '@countersign/protocol/passkeys'
import type { RegistrationResponse } from '@countersign/protocol/webauthn'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { enrolEncryptionKey, readEncryptionKey } from '#encryption/identity-key.ts'
import { keepKeyWraps, keepRecovery, requireCoherent } from '#encryption/key-wrap.ts'
import { beginPerson, requireFitting, requireFreeHandle } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import type { Config } from '#kernel/config.ts'
import { isTaken, transaction } from '#kernel/database.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { refusals } from '#kernel/refusal.ts'
import { openSession } from '#sessions/session.ts'
import { enrolFirstKey, readPublicKey } from '#signing/key.ts'
import { requireSameFrame } from './client-data.ts'
import { beginFlow, finishFlow } from './flow.ts'
import { creationOptions, credentialAlgorithms } from './options.ts'
import { insertCredential } from './store.ts'

const refuse = refusals({
  invalid_credential: [400, 'The passkey cannot be verified. Start again.'],
  credential_in_use: [409, 'This passkey belongs to an account already. Sign in with it.'],
})

/** Begins an account. Its ids are told now, so that the browser can bind what it encrypts to them. */
export async function startRegistration(
  { db, config, clock }: Kernel,
  wanted: { handle: string; displayName: string },
): Promise<RegistrationStarted> {
  requireFitting(wanted)
  await requireFreeHandle(db, wanted.handle)
  const ids = { userId: randomUUIDv7(), identityId: randomUUIDv7() }
  const { flowId, challenge } = await beginFlow(db, { ceremony: 'register', ...ids, ...wanted }, clock())
  return { flowId, options: creationOptions(config.relyingPartyId, challenge, { ...ids, ...wanted }), ...ids }
}

export type Registered = { token: string; expiresAt: Date; userId: string; identity: Identity }

/**
 * Completes an account, in one transaction with everything that it begins. Refuses `invalid_flow`,
 * `invalid_credential`, `credential_in_use`, `handle_taken`, `invalid_public_key`, `key_in_use`, `invalid_request`.
 */
export async function finishRegistration(
  { db, config, clock }: Kernel,
  finish: RegistrationFinish,
  userAgent: string | undefined,
): Promise<Registered> {
  const now = clock()
  const { keyWraps = [], recoveryAuth, signingKey, encryptionKey } = finish
  requireCoherent(keyWraps)
  const signing = signingKey && { ...signingKey, publicKey: readPublicKey(signingKey) }
  const encryption = encryptionKey && { ...encryptionKey, publicKey: readEncryptionKey(encryptionKey) }
  const flow = await finishFlow(db, 'register', finish.flowId, now)
  const credential = await verifiedCredential(config, finish.credential, flow.challenge)
  const { userId, identityId } = flow

  return transaction(db, async (tx) => {
    const identity = await beginPerson(tx, flow, now)
    await insertCredential(tx, { ...credential, userId }, now).catch((error: unknown) => {
      throw isTaken(error, 'passkey_credential_pkey') ? refuse.credential_in_use() : error
    })
    await keepKeyWraps(tx, userId, keyWraps, now)
    if (recoveryAuth) await keepRecovery(tx, userId, recoveryAuth, now)
    if (signing) await enrolFirstKey(tx, { identityId, ...signing }, now)
    if (encryption) await enrolEncryptionKey(tx, { identityId, ...encryption }, now)
    const session = await openSession(tx, userId, userAgent, now)
    await record(tx, { action: 'account.registered', actor: 'person', userId, identityId }, now)
    return { token: session.token, expiresAt: session.expiresAt, userId, identity }
  })
}

/** Verifies a registration ceremony (WebAuthn §7.1). */
async function verifiedCredential(
  { authUrl, relyingPartyId }: Config,
  response: RegistrationResponse,
  challenge: string,
) {
  const { id, rawId, type, clientExtensionResults } = response
  const { clientDataJSON, attestationObject } = response.response
  requireSameFrame(clientDataJSON, refuse.invalid_credential)
  const { registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId, type, clientExtensionResults, response: { clientDataJSON, attestationObject } },
    expectedChallenge: challenge,
    expectedOrigin: authUrl.origin,
    expectedRPID: relyingPartyId,
    requireUserPresence: true,
    requireUserVerification: true,
    supportedAlgorithmIDs: credentialAlgorithms,
  }).catch((): { registrationInfo?: undefined } => ({}))
  if (!registrationInfo || registrationInfo.fmt !== 'none') throw refuse.invalid_credential()

  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo
  return {
    credentialId: credential.id,
    publicKey: credential.publicKey,
    signCount: credential.counter,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    transports: response.response.transports ?? [],
    name: nameOf(response),
  }
}

/** What a new passkey is called until its owner names it: where it is kept, as far as the browser says. */
function nameOf({ authenticatorAttachment, response: { transports = [] } }: RegistrationResponse): string {
  if (transports.includes('hybrid') && authenticatorAttachment === 'cross-platform') return 'Phone or tablet'
  if (transports.some((transport) => ['usb', 'nfc', 'ble'].includes(transport))) return 'Security key'
  return authenticatorAttachment === 'platform' ? 'This device' : 'Passkey'
}
