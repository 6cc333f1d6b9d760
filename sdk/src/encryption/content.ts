import { open, seal } from './jwe.ts'

/** Context of a ciphertext, such as `note:42`: it can only be decrypted with the same context. It is not secret. */
export type EncryptionContext = { context: string }

/**
 * Encrypts a text or bytes with the user's symmetric key for your app. Returns a compact JWE (`dir`, `A256GCM`), which
 * your server can store.
 */
export async function encrypt(
  key: CryptoKey,
  content: string | Uint8Array,
  { context }: EncryptionContext,
): Promise<string> {
  return seal(secretKey(key), context, content)
}

/** Decrypts to the bytes that were passed to `encrypt`. Throws `decryption_failed`. */
export async function decrypt(key: CryptoKey, ciphertext: string, { context }: EncryptionContext): Promise<Uint8Array> {
  return open(secretKey(key), context, ciphertext)
}

/** Decrypts to the text that was passed to `encrypt`. Throws `decryption_failed`. */
export async function decryptText(key: CryptoKey, ciphertext: string, place: EncryptionContext): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await decrypt(key, ciphertext, place))
}

function secretKey(key: CryptoKey): CryptoKey {
  if (key.type !== 'secret') throw new TypeError('A symmetric app key is required. Use wrap and unwrap with a key pair')
  return key
}
