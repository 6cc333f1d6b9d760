import { hash } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { CreationOptions, RequestOptions } from '@countersign/protocol/accounts/webauthn'
import { uuidToBytes } from '#platform/crypto/token-format.ts'
import { credentialAlgorithms } from './public-key.ts'

/** The salt under which a passkey derives the secret that wraps the master key. The same for everybody. */
const prf = { eval: { first: hash('sha256', 'countersign/prf/v1', 'base64url') } }
const timeout = limits.flowLifetimeSeconds * 1000

type NewUser = { userId: string; handle: string; displayName: string }
type Existing = { credentialId: string; transports: string[] }

/**
 * The options of a registration ceremony: a discoverable credential, the person verified (WebAuthn §5.4). Where one of
 * the person's own passkeys is already, no second one is made, nor the first replaced.
 */
export function creationOptions(
  rpId: string,
  challenge: string,
  { userId, handle, displayName }: NewUser,
  existing: Existing[] = [],
): CreationOptions {
  return {
    rp: { id: rpId, name: 'Countersign' },
    user: { id: userHandleOf(userId), name: handle, displayName },
    challenge,
    pubKeyCredParams: credentialAlgorithms.map((alg) => ({ type: 'public-key', alg })),
    timeout,
    excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, type: 'public-key', transports })),
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    attestation: 'none',
    extensions: { credProps: true, prf },
  }
}

/** The options of an authentication ceremony. They name no credential, so they are the same for everybody (§5.5). */
export function requestOptions(rpId: string, challenge: string): RequestOptions {
  return { challenge, rpId, timeout, allowCredentials: [], userVerification: 'required', extensions: { prf } }
}

/** The user handle that a passkey keeps (WebAuthn §5.4.3): the sixteen bytes of the user's id. */
export function userHandleOf(userId: string): string {
  return uuidToBytes(userId).toString('base64url')
}
