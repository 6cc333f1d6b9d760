import { type KeyObject, generateKeyPair, hash, sign } from 'node:crypto'
import { promisify } from 'node:util'
import { type Algorithm, type HashName, signatureAlgorithms } from '@countersign/protocol/formats/registries/algorithms'

const nodeHashes: Record<HashName, string> = { 'SHA-256': 'sha256', 'SHA-384': 'sha384', 'SHA-512': 'sha512' }

const newKeyPair = promisify(generateKeyPair)
const signInThread = promisify<string, Buffer, KeyObject, Buffer>(sign)

/** Generates a key pair in another thread, because requests would wait for an RSA key. */
export function generateSigningKeyPair(algorithm: Algorithm): Promise<{ publicKey: KeyObject; privateKey: KeyObject }> {
  const { key } = signatureAlgorithms[algorithm]
  switch (key.type) {
    case 'rsa':
      return newKeyPair('rsa', { modulusLength: key.modulusLength })
    case 'ec':
      return newKeyPair('ec', { namedCurve: key.namedCurve })
    case 'ed25519':
      return newKeyPair('ed25519')
  }
}

/**
 * Computes a signature in the format of JWS (RFC 7518 §3.3 and §3.4, RFC 8037 §3.1). RSA is ten times slower than the
 * others and therefore runs outside the event loop.
 */
export function signBytes(algorithm: Algorithm, data: Buffer, privateKey: KeyObject): Buffer | Promise<Buffer> {
  const { key, hash: name } = signatureAlgorithms[algorithm]
  switch (key.type) {
    case 'rsa':
      return signInThread(nodeHashes[name], data, privateKey)
    case 'ec':
      return sign(nodeHashes[name], data, { key: privateKey, dsaEncoding: 'ieee-p1363' })
    case 'ed25519':
      return sign(null, data, privateKey)
  }
}

/**
 * Returns the claim `at_hash` of an access token: the left half of its hash by the algorithm of the ID token (OpenID
 * Connect Core §3.1.3.6), base64url. The SHA-256 of the token is known already.
 */
export function accessTokenHash(algorithm: Algorithm, access: { token: string; sha256: Buffer }): string {
  const { hash: name } = signatureAlgorithms[algorithm]
  const digest = name === 'SHA-256' ? access.sha256 : hash(nodeHashes[name], access.token, 'buffer')
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
