import type { RegistrationResponse } from '@countersign/protocol/accounts/webauthn'
import { verifyRegistrationResponse } from '@simplewebauthn/server'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import type { Config } from '#platform/config/config.ts'
import { refusals } from '#platform/refusal.ts'
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
  // Before the library: of other formats it reads certificates, and asks for the revocation lists that these name.
  if (!isUnattested(Buffer.from(attestationObject, 'base64url'))) throw refuse.invalid_credential()
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
  if (!registrationInfo || !hasAllowedAaguid(registrationInfo)) throw refuse.invalid_credential()

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

/** An RSA key of 16,384 bits that signs its own statement takes less than six thousand bytes. */
const attestationBytesMax = 8192

/**
 * Whether an attestation object (WebAuthn §6.5.4) names no manufacturer, as was requested: the format `none` with an
 * empty statement (§8.7), or `packed` with self attestation (§8.2), which has no certificate. It has exactly the
 * members of the standard, in the encoding that CTAP2 makes canonical.
 */
function isUnattested(bytes: Uint8Array<ArrayBuffer>): boolean {
  const object = bytes.length <= attestationBytesMax ? decode(bytes) : undefined
  if (!(object instanceof Map) || object.size !== 3) return false
  const statement: unknown = object.get('attStmt')
  if (!(object.get('authData') instanceof Uint8Array) || !(statement instanceof Map)) return false
  switch (object.get('fmt')) {
    case 'none':
      return statement.size === 0
    case 'packed':
      return (
        statement.size === 2 && Number.isInteger(statement.get('alg')) && statement.get('sig') instanceof Uint8Array
      )
    default:
      return false
  }
}

/**
 * The one value that these bytes encode; undefined where they encode none, or encode it in another way than this
 * encoder: a member twice, a length that is too long, an end that is missing, a byte behind it.
 */
function decode(bytes: Uint8Array<ArrayBuffer>): unknown {
  try {
    const value = isoCBOR.decodeFirst<Parameters<typeof isoCBOR.encode>[0]>(bytes)
    return Buffer.from(isoCBOR.encode(value)).equals(bytes) ? value : undefined
  } catch {
    // That these bytes are no CBOR it says by throwing; the caller refuses them.
    return undefined
  }
}

/**
 * Whether the AAGUID fits a passkey that was not attested. A browser leaves the statement in place that the passkey
 * itself has signed, if its AAGUID is of zeros (§5.1.3, conveyance `none`).
 */
function hasAllowedAaguid({ fmt, aaguid }: { fmt: string; aaguid: string }): boolean {
  return fmt === 'none' || /^[0-]+$/.test(aaguid)
}

/** What kind of passkey it is, as far as the browser says: its name, where the product does not tell its own. */
function kindOf({ authenticatorAttachment, response: { transports = [] } }: RegistrationResponse): string {
  if (transports.some((transport) => ['usb', 'nfc', 'ble'].includes(transport))) return 'Security key'
  if (transports.includes('hybrid') && authenticatorAttachment === 'cross-platform') return 'Phone or tablet'
  return 'Passkey'
}
