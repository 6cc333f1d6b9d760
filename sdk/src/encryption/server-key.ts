import { ciphertextContext } from '@countersign/protocol/formats/encryption/ciphertext-context'
import { fromCanonicalBase64 } from '@countersign/protocol/formats/base64'
import { recipientKeyOf } from '@countersign/protocol/formats/encryption/recipient-key'
import { encode as toBase64Url } from 'jose/base64url'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import { importDelivered, type AppKey } from './delivered-key.ts'
import { cannotOpen, open, parametersOf } from './jwe.ts'

/** A key pair of the app's server. `publicJwk` is for the app's registration; `privateJwk` stays on the server. */
export type ServerKey = { publicJwk: string; privateJwk: string }

/** App key that a server has opened, and its fingerprint: the same key has the same one. */
export type OpenedAppKey = AppKey & { fingerprint: string }

/**
 * Generates the long-lived key pair of the app's server, once. Register `publicJwk` with the app as
 * `appKeyRecipientJwk`, and keep `privateJwk` where the server keeps its secrets: it opens the app keys of all users.
 */
export async function generateServerKey(): Promise<ServerKey> {
  const algorithm = { name: 'ECDH', namedCurve: 'P-256' }
  const pair = await crypto.subtle.generateKey(algorithm, true, ['deriveBits'])
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
  const { d } = await crypto.subtle.exportKey('jwk', pair.privateKey)
  return {
    publicJwk: toBase64Url(JSON.stringify({ kty, crv, x, y })),
    privateJwk: JSON.stringify({ kty, crv, x, y, d }),
  }
}

/**
 * Opens an app key that was encrypted to the app's server. Store the `fingerprint` of the result with the user, pass it
 * the next time, and store the new one then: after a reset it is another one. For a user without a fingerprint, open
 * only a key that a redirect brought.
 *
 * Anyone can encrypt to a public key, and a key from FedCM passes through Countersign: only the fingerprint shows that
 * it is the user's own. A new key is accepted together with the `old` one of that fingerprint, which only the user's
 * browser and the app know. Throws `decryption_failed`, and `app_key_changed` if neither has the fingerprint.
 */
export async function openAppKey(
  privateJwk: string,
  sealedAppKey: string,
  { fingerprint }: { fingerprint?: string | undefined } = {},
): Promise<OpenedAppKey> {
  const plaintext = await open(await importServerKey(privateJwk), ciphertextContext.appKeyFragment(), sealedAppKey)
  const fragment = new TextDecoder().decode(plaintext)
  const appKey = await importDelivered(fragment)
  const current = await fingerprintOf(fragment, 'app_key')
  const known = appKey.old ? [current, await fingerprintOf(fragment, 'app_key_old')] : [current]
  if (fingerprint !== undefined && !known.includes(fingerprint)) throw new CountersignError(changed)
  return { ...appKey, fingerprint: current }
}

async function fingerprintOf(fragment: string, field: 'app_key' | 'app_key_old'): Promise<string> {
  const key = fromCanonicalBase64(new URLSearchParams(fragment).get(field) ?? '')
  if (!key) throw cannotOpen()
  return toBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', key)))
}

async function importServerKey(privateJwk: string): Promise<CryptoKey> {
  const parsed: unknown = JSON.parse(privateJwk)
  const { d, ...publicJwk } = isRecord(parsed) ? parsed : {}
  const recipient = recipientKeyOf(publicJwk)
  if (!recipient || typeof d !== 'string') throw new TypeError('privateJwk must be a private JWK of generateServerKey')
  return crypto.subtle.importKey('jwk', { ...recipient, d }, parametersOf(recipient.crv), false, ['deriveBits'])
}

const changed = {
  code: 'app_key_changed',
  description: "The app key differs from the user's former one.",
}
