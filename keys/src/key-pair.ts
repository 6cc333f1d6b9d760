import { toBase64 } from '@countersign/protocol/formats/base64'

/** The public key as the server stores it, and the private key as a JWK, to be encrypted. */
export type KeyPair = { publicKey: string; privateKey: JsonWebKey }

/** Generates an Ed25519 key pair (RFC 8032); the public key is the base64 of its 32 bytes. */
export async function generateSigningKeyPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: await exportPrivateKey(pair) }
}

/** Checks an Ed25519 signature by a public key of 32 bytes. A key outside the curve verifies nothing. */
export async function verifySignature(
  publicKey: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  message: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  try {
    const key = await crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify'])
    return await crypto.subtle.verify('Ed25519', key, signature, message)
  } catch (error) {
    if (error instanceof DOMException && error.name === 'DataError') return false
    throw error
  }
}

/** Imports the private key of `generateSigningKeyPair`, for signing only. */
export async function importSigningKey(privateKey: JsonWebKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', privateKey, 'Ed25519', false, ['sign'])
}

/** Generates a key pair for encryption: X25519 (RFC 7748), or P-256 if the runtime lacks it; the public key is SPKI. */
export async function generateEncryptionKeyPair(): Promise<KeyPair> {
  const pair = await generateAgreementKeyPair()
  const publicKey = await crypto.subtle.exportKey('spki', pair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: await exportPrivateKey(pair) }
}

/** Imports the private key of `generateEncryptionKeyPair`, for key agreement only. */
export async function importEncryptionKey(privateKey: JsonWebKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', privateKey, agreementOf(privateKey), false, ['deriveBits'])
}

/** Returns the public key that `generateEncryptionKeyPair` has returned with this private key. */
export async function encryptionPublicKeyOf({ d: _private, ...key }: JsonWebKey): Promise<string> {
  const publicKey = await crypto.subtle.importKey('jwk', key, agreementOf(key), true, [])
  return toBase64(new Uint8Array(await crypto.subtle.exportKey('spki', publicKey)))
}

function agreementOf({ crv }: JsonWebKey) {
  return crv === 'P-256' ? { name: 'ECDH', namedCurve: 'P-256' } : { name: 'X25519' }
}

/** Generates an extractable pair: X25519, or P-256 if the runtime lacks it. */
export async function generateAgreementKeyPair(): Promise<CryptoKeyPair> {
  try {
    return await crypto.subtle.generateKey('X25519', true, ['deriveBits'])
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotSupportedError')) throw error
    return crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  }
}

/** Returns the members that define the key (RFC 7517 §4, RFC 8037 §2), without the runtime's usage fields. */
async function exportPrivateKey({ privateKey }: CryptoKeyPair): Promise<JsonWebKey> {
  const {
    key_ops: _usages,
    ext: _extractable,
    alg: _algorithm,
    ...key
  } = await crypto.subtle.exportKey('jwk', privateKey)
  return key
}
