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
import { CannotOpen } from './envelope.ts'
import { generateAgreementKeyPair } from './key-pair.ts'

/** A key pair of an app as the server keeps it: the private half as a ciphertext under the master key. */
export type SealedAppKeyPair = { appPublicKey: string; encryptedAppPrivateKey: string }

export function newSymmetricAppKey(): SymmetricAppKey {
  return { mode: 'symmetric', key: crypto.getRandomValues(new Uint8Array(32)) }
}

/** X25519, P-256 where the runtime lacks it. It is read at once: what could not be opened again is not sealed. */
export async function newAppKeyPair(): Promise<AppKeyPair> {
  const pair = await generateAgreementKeyPair()
  const privateKey = await crypto.subtle.exportKey('pkcs8', pair.privateKey)
  const publicKey = await crypto.subtle.exportKey('spki', pair.publicKey)
  return readAppKeyPair(new Uint8Array(privateKey), toBase64(new Uint8Array(publicKey)))
}

/** What an envelope held. Throws `CannotOpen` when that is no symmetric key. */
export function readSymmetricAppKey(plaintext: Uint8Array): SymmetricAppKey {
  const key = appKeyOf(Uint8Array.from(plaintext))
  if (key?.mode !== 'symmetric') throw new CannotOpen()
  return key
}

/**
 * What an envelope held. Throws `CannotOpen` when that is no private key, or not that of this public key, which is kept
 * in the clear: whoever keeps it could answer with one of their own, and read what others encrypt to it.
 */
export async function readAppKeyPair(plaintext: Uint8Array, appPublicKey: string): Promise<AppKeyPair> {
  const key = appKeyOf(Uint8Array.from(plaintext))
  const publicKey = fromCanonicalBase64(appPublicKey)
  const curve = publicKey && curveOfPublicKey(publicKey)
  if (key?.mode !== 'asymmetric' || !curve || curve !== curveOfPrivateKey(key.privateKey)) throw new CannotOpen()
  const point = await pointOf(key.privateKey, curve)
  if (!point.every((byte, index) => byte === publicKey[publicKey.length - point.length + index])) throw new CannotOpen()
  return { ...key, publicKey }
}

/** The point of the public key that belongs to a private one, with which its SPKI ends. */
async function pointOf(privateKey: Uint8Array<ArrayBuffer>, curve: AgreementCurve): Promise<Uint8Array> {
  const algorithm = curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
  const imported = await crypto.subtle.importKey('pkcs8', privateKey, algorithm, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', imported)
  return Uint8Array.from([x, y].flatMap((coordinate) => [...(fromCanonicalBase64Url(coordinate) ?? [])]))
}
