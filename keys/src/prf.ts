import { open, seal } from './envelope.ts'
import { deriveEnvelopeKey } from './hkdf.ts'

/** A key that wraps the master key. It is not extractable: no code can read or print its bytes. */
export class KeyEncryptionKey {
  readonly #key: CryptoKey

  private constructor(key: CryptoKey) {
    this.#key = key
  }

  /** Derives the key from a uniformly random secret; `info` names the use. */
  static async derive(secret: BufferSource, info: string): Promise<KeyEncryptionKey> {
    return new KeyEncryptionKey(await deriveEnvelopeKey(secret, info))
  }

  async seal(context: string, plaintext: Uint8Array): Promise<string> {
    return seal(this.#key, context, plaintext)
  }

  /** Throws `DecryptionError`. */
  async open(context: string, ciphertext: string): Promise<Uint8Array> {
    return open(this.#key, context, ciphertext)
  }
}

const outputBytes = 32

/**
 * Returns the salt for the pseudo-random function of a passkey (WebAuthn Level 3 §10.1.4). It is the same for all
 * users, because each passkey has its own function.
 */
export async function prfSalt(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode('countersign/prf/v1')))
}

/** Derives the wrapping key of a passkey from its PRF output for `prfSalt()`, which always has 32 bytes. */
export async function deriveKeyFromPrf(output: BufferSource): Promise<KeyEncryptionKey> {
  // An empty output of an authenticator must not lead to a key that anyone can compute.
  if (output.byteLength !== outputBytes) throw new RangeError(`A PRF output must have ${outputBytes} bytes`)
  return KeyEncryptionKey.derive(output, 'countersign/master-key/v1')
}
