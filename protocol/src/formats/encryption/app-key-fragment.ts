/**
 * How an app gets its key: in the fragment of the address to which the browser returns, and which it sends to no
 * server. There is one way to write it, and a reader takes no other.
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

/** What a new key has replaced, to open what was encrypted with it. */
export type FormerAppKey = SymmetricAppKey | Omit<AppKeyPair, 'publicKey'>

export type AppKeyDelivery = { appKey: AppKey; former?: FormerAppKey }

const symmetricKeyBytes = 32

/** Without the `#`. */
export function writeAppKeyFragment({ appKey, former }: AppKeyDelivery): string {
  const fields = [
    `app_key=${inFragment(secretOf(appKey))}`,
    ...(appKey.mode === 'asymmetric' ? [`app_public_key=${inFragment(appKey.publicKey)}`] : []),
    ...(former ? [`app_key_old=${inFragment(secretOf(former))}`, 'app_key_reset=1'] : []),
  ]
  return fields.join('&')
}

/** What `writeAppKeyFragment` wrote; undefined for any other text. */
export function readAppKeyFragment(text: string): AppKeyDelivery | undefined {
  const fields = new URLSearchParams(text)
  const appKey = readAppKey(fields)
  if (!appKey) return undefined
  const old = fields.get('app_key_old')
  const former = old === null ? undefined : readSecret(old)
  const delivery = { appKey, ...(former && { former }) }
  // Fields that are missing, doubled, unknown or in another place or spelling are not written again as they are.
  return writeAppKeyFragment(delivery) === text ? delivery : undefined
}

/** The fragment that carries another one, as the compact JWE that was sealed to a key of the app's page. */
export function writeSealedFragment(ciphertext: string): string {
  return `app_key_jwe=${ciphertext}`
}

/** The JWE that `writeSealedFragment` wrote; undefined for any other text. */
export function readSealedFragment(text: string): string | undefined {
  const [, ciphertext] = /^app_key_jwe=(.+)$/.exec(text) ?? []
  return ciphertext !== undefined && isCompactJwe(ciphertext) ? ciphertext : undefined
}

/** The symmetric key or the private key that these bytes are; they cannot be both. */
export function appKeyOf(secret: Bytes): FormerAppKey | undefined {
  if (secret.length === symmetricKeyBytes) return { mode: 'symmetric', key: secret }
  return curveOfPrivateKey(secret) && { mode: 'asymmetric', privateKey: secret }
}

function readAppKey(fields: URLSearchParams): AppKey | undefined {
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
