import type { RegistrationResponse } from '@countersign/protocol/webauthn'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import type { Config } from '#kernel/config.ts'
import { refusals } from '#kernel/refusal.ts'
import { requireSameFrame } from './client-data.ts'
import { productOf } from './products.ts'
import { credentialAlgorithms, isSoundKey } from './public-key.ts'

const refuse = refusals({ invalid_credential: [400, 'The passkey cannot be verified. Start again.'] })

/** A passkey that has just been made. */
export type Attested = {
  credentialId: string
  publicKey: Uint8Array
  signCount: number
  backupEligible: boolean
  backedUp: boolean
  transports: string[]
  name: string
}

/** Verifies a registration ceremony (WebAuthn §7.1). Refuses `invalid_credential`, whatever was wrong. */
export async function verifyAttestation(
  { authUrl, relyingPartyId }: Config,
  sent: RegistrationResponse,
  challenge: string,
): Promise<Attested> {
  const { id, rawId, type, clientExtensionResults } = sent
  const { clientDataJSON, attestationObject, transports = [] } = sent.response
  requireSameFrame(clientDataJSON, refuse.invalid_credential)
  const { registrationInfo } = await verifyRegistrationResponse({
    response: { id, rawId, type, clientExtensionResults, response: { clientDataJSON, attestationObject } },
    expectedChallenge: challenge,
    expectedOrigin: authUrl.origin,
    expectedRPID: relyingPartyId,
    requireUserPresence: true,
    requireUserVerification: true,
    supportedAlgorithmIDs: credentialAlgorithms,
    // What is wrong it says by throwing; the caller is told no more than that something is.
  }).catch((): { registrationInfo?: undefined } => ({}))
  if (!registrationInfo || !isUnattested(registrationInfo)) throw refuse.invalid_credential()
  if (!endsThere(registrationInfo.attestationObject)) throw refuse.invalid_credential()

  const { credential, credentialDeviceType, credentialBackedUp } = registrationInfo
  // The schema bounds the id that was sent (§7.1: at most 1,023 bytes); the id that was attested is that one.
  if (credential.id !== id || !isSoundKey(credential.publicKey)) throw refuse.invalid_credential()
  return {
    credentialId: credential.id,
    publicKey: credential.publicKey,
    signCount: credential.counter,
    backupEligible: credentialDeviceType === 'multiDevice',
    backedUp: credentialBackedUp,
    transports,
    name: productOf(registrationInfo.aaguid) ?? kindOf(sent),
  }
}

/**
 * Whether the authenticator's make stays untold, as we asked. A browser then removes the statement, but leaves it where
 * the passkey itself has signed it under an AAGUID of zeros (§5.1.3, conveyance `none`).
 */
function isUnattested({ fmt, aaguid }: { fmt: string; aaguid: string }): boolean {
  return fmt === 'none' || (fmt === 'packed' && /^[0-]+$/.test(aaguid))
}

/** Whether CBOR ends where its bytes do: written again, what was read of it has the same length. */
function endsThere(bytes: Uint8Array<ArrayBuffer>): boolean {
  return isoCBOR.encode(isoCBOR.decodeFirst(bytes)).length === bytes.length
}

/** What kind of passkey it is, as far as the browser says: its name, where the product does not tell its own. */
function kindOf({ authenticatorAttachment, response: { transports = [] } }: RegistrationResponse): string {
  if (transports.some((transport) => ['usb', 'nfc', 'ble'].includes(transport))) return 'Security key'
  if (transports.includes('hybrid') && authenticatorAttachment === 'cross-platform') return 'Phone or tablet'
  return 'Passkey'
}
