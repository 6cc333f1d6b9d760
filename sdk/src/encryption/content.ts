import { open, seal } from './jwe.ts'

/** What a ciphertext is for, such as `note:42`: it opens for that alone. It is not secret. */
export type Place = { context: string }

/**
 * Encrypts a text or bytes under the symmetric key of this person for your app: a compact JWE (`dir`, `A256GCM`), which
 * your server may keep.
 */
export async function encrypt(key: CryptoKey, content: string | Uint8Array, { context }: Place): Promise<string> {
  return seal(secretKey(key), context, content)
}

/** The bytes that `encrypt` was given. Throws `cannot_open`. */
export async function decrypt(key: CryptoKey, ciphertext: string, { context }: Place): Promise<Uint8Array> {
  return open(secretKey(key), context, ciphertext)
}

/** The text that `encrypt` was given. Throws `cannot_open`. */
export async function decryptText(key: CryptoKey, ciphertext: string, place: Place): Promise<string> {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(await decrypt(key, ciphertext, place))
}

function secretKey(key: CryptoKey): CryptoKey {
  if (key.type !== 'secret') throw new TypeError('This takes the key of a symmetric app key; a pair wraps and unwraps')
  return key
}
