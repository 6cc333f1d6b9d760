import { toBase64 } from '@countersign/protocol/formats/base64'

/** The public half as the server stores it; the private half as a JWK, to be sealed. */
export type KeyPair = { publicKey: string; privateKey: JsonWebKey }

/** An Ed25519 key pair (RFC 8032); the public key is the base64 of its 32 bytes. */
export async function newSigningKeyPair(): Promise<KeyPair> {
  const pair = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify'])
  const publicKey = await crypto.subtle.exportKey('raw', pair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: await exportPrivateKey(pair) }
}

/** The private key of `newSigningKeyPair`, for signing alone. */
export async function importSigningKey(privateKey: JsonWebKey): Promise<CryptoKey> {
  return crypto.subtle.importKey('jwk', privateKey, 'Ed25519', false, ['sign'])
}

/** A key pair to which others encrypt: X25519 (RFC 7748), P-256 where the runtime lacks it; the public key is SPKI. */
export async function newEncryptionKeyPair(): Promise<KeyPair> {
  const pair = await generateAgreementKeyPair()
  const publicKey = await crypto.subtle.exportKey('spki', pair.publicKey)
  return { publicKey: toBase64(new Uint8Array(publicKey)), privateKey: await exportPrivateKey(pair) }
}

/** The private key of `newEncryptionKeyPair`, for key agreement alone. */
export async function importEncryptionKey(privateKey: JsonWebKey): Promise<CryptoKey> {
  const algorithm = privateKey.crv === 'P-256' ? { name: 'ECDH', namedCurve: 'P-256' } : { name: 'X25519' }
  return crypto.subtle.importKey('jwk', privateKey, algorithm, false, ['deriveBits'])
}

/** An extractable pair: X25519, or P-256 where the runtime lacks it. */
export async function generateAgreementKeyPair(): Promise<CryptoKeyPair> {
  try {
    return await crypto.subtle.generateKey('X25519', true, ['deriveBits'])
  } catch (error) {
    if (!(error instanceof DOMException && error.name === 'NotSupportedError')) throw error
    return crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-256' }, true, ['deriveBits'])
  }
}

/** The members that make up the key (RFC 7517 §4, RFC 8037 §2), without what the runtime notes about its use. */
async function exportPrivateKey({ privateKey }: CryptoKeyPair): Promise<JsonWebKey> {
  const {
    key_ops: _usages,
    ext: _extractable,
    alg: _algorithm,
    ...key
  } = await crypto.subtle.exportKey('jwk', privateKey)
  return key
}
