import { curveOfPrivateKey } from '@countersign/protocol/formats/encryption/agreement-key'
import {
  parseAppKeyFragment,
  parseSealedFragment,
  type AppKey as Delivered,
  type FormerAppKey,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { decryptWithEphemeralKey } from './ephemeral-key.ts'
import { cannotOpen, parametersOf } from './jwe.ts'

/** A key for AES-256-GCM, for `encrypt` and `decrypt`. It is not extractable; IndexedDB can store it. */
export type SymmetricAppKey = { mode: 'symmetric'; key: CryptoKey }

/**
 * A key pair. The private key is for `unwrap` and not extractable. The public key is SPKI in base64, as other users
 * look it up.
 */
export type AppKeyPair = { mode: 'asymmetric'; privateKey: CryptoKey; publicKey: string }

/** `old` is present after the user has replaced the key: it decrypts content that was encrypted before. */
export type AppKey = (SymmetricAppKey | AppKeyPair) & { old?: SymmetricAppKey | Omit<AppKeyPair, 'publicKey'> }

/**
 * Reads the user's app key from the fragment of the URL. First it removes the fragment from the address bar and this
 * history entry. Returns undefined and changes nothing if the fragment contains no key. Throws `decryption_failed` if
 * the key is invalid or not for this browser.
 *
 * Validate `state` first; otherwise an attacker's URL could bring you the attacker's key. With `sealed`, which belongs
 * to `newEphemeralKey`, an unencrypted key is rejected.
 */
export async function readAppKey({ sealed = false }: { sealed?: boolean } = {}): Promise<AppKey | undefined> {
  const fragment = takeFragment()
  if (fragment === undefined) return undefined
  const ciphertext = parseSealedFragment(fragment)
  if (ciphertext !== undefined) return decryptAppKey(ciphertext)
  if (sealed) throw cannotOpen()
  return importDelivered(fragment)
}

/**
 * Decrypts the key that `signIn` brought encrypted to this browser, once. Throws `decryption_failed` if it is for
 * another browser.
 */
export async function decryptAppKey(ciphertext: string): Promise<AppKey> {
  return importDelivered(await decryptWithEphemeralKey(ciphertext))
}

async function importDelivered(fragment: string): Promise<AppKey> {
  const delivery = parseAppKeyFragment(fragment)
  if (!delivery) throw cannotOpen()
  const { appKey, former } = delivery
  return { ...(await importAppKey(appKey)), ...(former && { old: await importFormer(former) }) }
}

function takeFragment(): string | undefined {
  const { href, hash } = location
  if (!/^#app_key(?:_jwe)?=/.test(hash)) return undefined
  // The absolute URL: a path that begins with // would be a URL of another host.
  history.replaceState(history.state, '', href.slice(0, href.length - hash.length))
  return hash.slice(1)
}

async function importAppKey(key: Delivered): Promise<SymmetricAppKey | AppKeyPair> {
  if (key.mode === 'symmetric') return importSymmetric(key)
  return { ...(await importPrivate(key)), publicKey: toBase64(key.publicKey) }
}

async function importFormer(key: FormerAppKey): Promise<SymmetricAppKey | Omit<AppKeyPair, 'publicKey'>> {
  return key.mode === 'symmetric' ? importSymmetric(key) : importPrivate(key)
}

async function importSymmetric({ key }: Extract<FormerAppKey, { mode: 'symmetric' }>): Promise<SymmetricAppKey> {
  const imported = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt', 'decrypt'])
  return { mode: 'symmetric', key: imported }
}

async function importPrivate({ privateKey }: Extract<FormerAppKey, { mode: 'asymmetric' }>) {
  const curve = curveOfPrivateKey(privateKey)
  if (!curve) throw cannotOpen()
  const usages = ['deriveBits'] as const
  const imported = await crypto.subtle.importKey('pkcs8', privateKey, parametersOf(curve), false, usages)
  return { mode: 'asymmetric' as const, privateKey: imported }
}
