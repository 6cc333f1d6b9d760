import { WrappingKey } from './wrapping-key.ts'

const outputBytes = 32

/**
 * The salt at which a passkey's pseudo-random function is evaluated (WebAuthn Level 3 §10.1.4): the same for everyone,
 * since the function itself differs from passkey to passkey.
 */
export async function prfSalt(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('countersign/prf/v1')))
}

/** The wrapping key of a passkey, from what its function answers for `prfSalt()`: always 32 bytes. */
export async function keyFromPrf(output: BufferSource): Promise<WrappingKey> {
  // An authenticator that answers nothing must not lead to a key that anybody can compute.
  if (output.byteLength !== outputBytes) throw new RangeError(`A PRF output has ${outputBytes} bytes`)
  return WrappingKey.derive(output, 'countersign/master-key/v1')
}
