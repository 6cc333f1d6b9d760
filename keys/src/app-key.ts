import {
  curveOfPrivateKey,
  curveOfPublicKey,
  type AgreementCurve,
} from '@countersign/protocol/formats/encryption/agreement-key'
import { parseAppKeyEnvelope, type AppKeyPlaces } from '@countersign/protocol/formats/encryption/app-key-envelope'
import type { AppKey, AppKeyPair, SymmetricAppKey } from '@countersign/protocol/formats/encryption/app-key-fragment'
import { fromCanonicalBase64, fromCanonicalBase64Url } from '@countersign/protocol/formats/base64'
import { DecryptionError } from './envelope.ts'
import { generateAgreementKeyPair } from './key-pair.ts'

/** A key pair of an app as the server stores it: the private key is encrypted with the master key. */
export type SealedAppKeyPair = { appPublicKey: string; encryptedAppPrivateKey: string }

export function generateSymmetricAppKey(): SymmetricAppKey {
  return { mode: 'symmetric', key: crypto.getRandomValues(new Uint8Array(32)) }
}

/**
 * Generates an X25519 key pair, or P-256 if the runtime lacks it. It is checked at once, so that an unreadable key
 * is never stored.
 */
export async function generateAppKeyPair(): Promise<AppKeyPair> {
  const pair = await generateAgreementKeyPair()
  const privateKey = await crypto.subtle.exportKey('pkcs8', pair.privateKey)
  const publicKey = await crypto.subtle.exportKey('spki', pair.publicKey)
  return pairOf(new Uint8Array(privateKey), new Uint8Array(publicKey))
}

/** App key of an envelope, and where it may be delivered. */
export type OpenedAppKey<Key extends AppKey = AppKey> = { appKey: Key; places: AppKeyPlaces }

/** Parses the envelope of a symmetric key. Throws `DecryptionError` for other content. */
export function parseSymmetricAppKey(plaintext: Uint8Array): OpenedAppKey<SymmetricAppKey> {
  const envelope = parseAppKeyEnvelope(plaintext)
  if (envelope?.key.mode !== 'symmetric') throw new DecryptionError()
  return { appKey: envelope.key, places: envelope.places }
}

/**
 * Parses the envelope of a private key. Throws `DecryptionError` if it holds none, or one that does not belong to this
 * public key. The public key is stored unencrypted, so the server could replace it with its own and read what others
 * encrypt to it.
 */
export async function parseAppKeyPair(plaintext: Uint8Array, appPublicKey: string): Promise<OpenedAppKey<AppKeyPair>> {
  const envelope = parseAppKeyEnvelope(plaintext)
  if (envelope?.key.mode !== 'asymmetric') throw new DecryptionError()
  const { privateKey } = envelope.key
  return { appKey: await pairOf(privateKey, fromCanonicalBase64(appPublicKey)), places: envelope.places }
}

async function pairOf(
  privateKey: Uint8Array<ArrayBuffer>,
  publicKey: Uint8Array<ArrayBuffer> | undefined,
): Promise<AppKeyPair> {
  const curve = publicKey && curveOfPublicKey(publicKey)
  if (!curve || curve !== curveOfPrivateKey(privateKey)) throw new DecryptionError()
  const point = await pointOf(privateKey, curve)
  if (!point.every((byte, index) => byte === publicKey[publicKey.length - point.length + index]))
    throw new DecryptionError()
  return { mode: 'asymmetric', privateKey, publicKey }
}

/** Returns the public point of a private key, which is the end of its SPKI. */
async function pointOf(privateKey: Uint8Array<ArrayBuffer>, curve: AgreementCurve): Promise<Uint8Array> {
  const algorithm = curve === 'P-256' ? { name: 'ECDH', namedCurve: curve } : { name: curve }
  const imported = await crypto.subtle.importKey('pkcs8', privateKey, algorithm, true, ['deriveBits'])
  const { x = '', y = '' } = await crypto.subtle.exportKey('jwk', imported)
  return Uint8Array.from([x, y].flatMap((coordinate) => [...(fromCanonicalBase64Url(coordinate) ?? [])]))
}
