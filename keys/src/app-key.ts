import {
  curveOfPrivateKey,
  curveOfPublicKey,
  type AgreementCurve,
} from '@countersign/protocol/formats/encryption/agreement-key'
import {
  appKeyOf,
  type AppKeyPair,
  type SymmetricAppKey,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { fromCanonicalBase64, fromCanonicalBase64Url, toBase64 } from '@countersign/protocol/formats/base64'
import { DecryptionError } from './envelope.ts'
import { generateAgreementKeyPair } from './key-pair.ts'

/** A key pair of an app as the server stores it: the private key is encrypted with the master key. */
export type SealedAppKeyPair = { appPublicKey: string; encryptedAppPrivateKey: string }

export function generateSymmetricAppKey(): SymmetricAppKey {
  return { mode: 'symmetric', key: crypto.getRandomValues(new Uint8Array(32)) }
}

/**
 * Generates an X25519 key pair, or P-256 if the runtime lacks it. It is decrypted once at once, so that an unreadable
 * key is never stored.
 */
export async function generateAppKeyPair(): Promise<AppKeyPair> {
  const pair = await generateAgreementKeyPair()
  const privateKey = await crypto.subtle.exportKey('pkcs8', pair.privateKey)
  const publicKey = await crypto.subtle.exportKey('spki', pair.publicKey)
  return parseAppKeyPair(new Uint8Array(privateKey), toBase64(new Uint8Array(publicKey)))
}

/** Parses the symmetric key of an envelope. Throws `DecryptionError` for other content. */
export function parseSymmetricAppKey(plaintext: Uint8Array): SymmetricAppKey {
  const key = appKeyOf(Uint8Array.from(plaintext))
  if (key?.mode !== 'symmetric') throw new DecryptionError()
  return key
}

/**
 * Parses the private key of an envelope. Throws `DecryptionError` if it is not a private key or does not belong to this
 * public key. The public key is stored unencrypted, so the server could replace it with its own and read what others
 * encrypt to it.
 */
export async function parseAppKeyPair(plaintext: Uint8Array, appPublicKey: string): Promise<AppKeyPair> {
  const key = appKeyOf(Uint8Array.from(plaintext))
  const publicKey = fromCanonicalBase64(appPublicKey)
  const curve = publicKey && curveOfPublicKey(publicKey)
  if (key?.mode !== 'asymmetric' || !curve || curve !== curveOfPrivateKey(key.privateKey)) throw new DecryptionError()
  const point = await pointOf(key.privateKey, curve)
  if (!point.every((byte, index) => byte === publicKey[publicKey.length - point.length + index]))
    throw new DecryptionError()
  return { ...key, publicKey }
}

/** Returns the public point of a private key, which is the end of its SPKI. */
async function pointOf(privateKey: Uint8Array<ArrayBuffer>, curve: AgreementCurve): Promise<Uint8Array> {
  const algorithm = curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
  const imported = await crypto.subtle.importKey('pkcs8', privateKey, algorithm, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', imported)
  return Uint8Array.from([x, y].flatMap((coordinate) => [...(fromCanonicalBase64Url(coordinate) ?? [])]))
}
