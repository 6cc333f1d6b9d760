import { open, seal } from './envelope.ts'
import { deriveEnvelopeKey } from './hkdf.ts'

/** A key that wraps the master key. It cannot be exported: no code, ours included, can read or print its bytes. */
export class WrappingKey {
  readonly #key: CryptoKey

  private constructor(key: CryptoKey) {
    this.#key = key
  }

  /** Derives the key from a secret that is as good as random; `info` names the use. */
  static async derive(secret: BufferSource, info: string): Promise<WrappingKey> {
    return new WrappingKey(await deriveEnvelopeKey(secret, info))
  }

  async seal(context: string, plaintext: Uint8Array): Promise<string> {
    return seal(this.#key, context, plaintext)
  }

  /** Throws `CannotOpen`. */
  async open(context: string, ciphertext: string): Promise<Uint8Array> {
    return open(this.#key, context, ciphertext)
  }
}
