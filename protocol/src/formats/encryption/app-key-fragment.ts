/**
 * Delivery of an app key: in the fragment of the URL to which the browser returns, which it sends to no server. The
 * format has one spelling, and parsers accept no other.
 */
import { curveOfPrivateKey, curveOfPublicKey } from './agreement-key.ts'
import { fromCanonicalBase64, toBase64 } from '../base64.ts'
import { isCompactJwe } from '../compact-jwe.ts'

type Bytes = Uint8Array<ArrayBuffer>

/** 32 bytes, for AES-256-GCM. */
export type SymmetricAppKey = { mode: 'symmetric'; key: Bytes }

/** PKCS#8 and SPKI, of X25519 or P-256. */
export type AppKeyPair = { mode: 'asymmetric'; privateKey: Bytes; publicKey: Bytes }

export type AppKey = SymmetricAppKey | AppKeyPair

/** Key that a new key has replaced, to decrypt older data. */
export type FormerAppKey = SymmetricAppKey | Omit<AppKeyPair, 'publicKey'>

export type AppKeyDelivery = { appKey: AppKey; former?: FormerAppKey }

const symmetricKeyBytes = 32

/** Formats the fragment, without the `#`. */
export function formatAppKeyFragment({ appKey, former }: AppKeyDelivery): string {
  const fields = [
    `app_key=${inFragment(secretOf(appKey))}`,
    ...(appKey.mode === 'asymmetric' ? [`app_public_key=${inFragment(appKey.publicKey)}`] : []),
    ...(former ? [`app_key_old=${inFragment(secretOf(former))}`, 'app_key_reset=1'] : []),
  ]
  return fields.join('&')
}

/** Parses the output of `formatAppKeyFragment`; returns undefined for any other text. */
export function parseAppKeyFragment(text: string): AppKeyDelivery | undefined {
  const fields = new URLSearchParams(text)
  const appKey = consumeAppKeyFragment(fields)
  if (!appKey) return undefined
  const old = fields.get('app_key_old')
  const former = old === null ? undefined : readSecret(old)
  const delivery = { appKey, ...(former && { former }) }
  // Missing, duplicate, unknown, misplaced or differently spelled fields change when they are formatted again.
  return formatAppKeyFragment(delivery) === text ? delivery : undefined
}

/** Formats the fragment that carries another fragment as a compact JWE, encrypted to a key of the app's page. */
export function writeSealedFragment(ciphertext: string): string {
  return `app_key_jwe=${ciphertext}`
}

/** Returns the JWE from the output of `writeSealedFragment`; undefined for any other text. */
export function parseSealedFragment(text: string): string | undefined {
  const [, ciphertext] = /^app_key_jwe=(.+)$/.exec(text) ?? []
  return ciphertext !== undefined && isCompactJwe(ciphertext) ? ciphertext : undefined
}

/** Returns the symmetric key or private key in these bytes; they cannot be both. */
export function appKeyOf(secret: Bytes): FormerAppKey | undefined {
  if (secret.length === symmetricKeyBytes) return { mode: 'symmetric', key: secret }
  return curveOfPrivateKey(secret) && { mode: 'asymmetric', privateKey: secret }
}

function consumeAppKeyFragment(fields: URLSearchParams): AppKey | undefined {
  const secret = readSecret(fields.get('app_key') ?? '')
  if (secret?.mode !== 'asymmetric') return secret
  const publicKey = fromCanonicalBase64(fields.get('app_public_key') ?? '')
  if (!publicKey || curveOfPublicKey(publicKey) !== curveOfPrivateKey(secret.privateKey)) return undefined
  return { ...secret, publicKey }
}

function readSecret(base64: string): FormerAppKey | undefined {
  const bytes = fromCanonicalBase64(base64)
  return bytes && appKeyOf(bytes)
}

function secretOf(key: FormerAppKey): Bytes {
  return key.mode === 'symmetric' ? key.key : key.privateKey
}

function inFragment(bytes: Uint8Array): string {
  return encodeURIComponent(toBase64(bytes))
}
