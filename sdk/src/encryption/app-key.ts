import { curveOfPrivateKey } from '@countersign/protocol/formats/encryption/agreement-key'
import {
  readAppKeyFragment,
  readSealedFragment,
  type AppKey as Delivered,
  type FormerAppKey,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
import { openSealed } from './ephemeral-key.ts'
import { cannotOpen, parametersOf } from './jwe.ts'

/** A key for AES-256-GCM: for `encrypt` and `decrypt`. No script can read it; IndexedDB can keep it. */
export type SymmetricAppKey = { mode: 'symmetric'; key: CryptoKey }

/** The private half is for `unwrap`, and likewise. The public one is SPKI in base64, as others look it up. */
export type AppKeyPair = { mode: 'asymmetric'; privateKey: CryptoKey; publicKey: string }

/** `old` is there when the person has had the key replaced: it opens what was encrypted before. */
export type AppKey = (SymmetricAppKey | AppKeyPair) & { old?: SymmetricAppKey | Omit<AppKeyPair, 'publicKey'> }

/**
 * The key that came with this person, from the fragment of the address. The fragment is taken out of the address bar
 * and of this entry of the history before anything else is done; undefined, and nothing is touched, where it holds no
 * key. Throws `cannot_open` where what it holds is no key, or not for this browser.
 *
 * Validate `state` first, or an address that somebody has made up could bring you a key of theirs. With `sealed`, which
 * belongs to `newEphemeralKey`, a key that comes in the clear is not taken.
 */
export async function readAppKey({ sealed = false }: { sealed?: boolean } = {}): Promise<AppKey | undefined> {
  const fragment = takeFragment()
  if (fragment === undefined) return undefined
  const ciphertext = readSealedFragment(fragment)
  if (ciphertext !== undefined) return openAppKey(ciphertext)
  if (sealed) throw cannotOpen()
  return importDelivered(fragment)
}

/** The key that `signIn` brought sealed to this browser, once. Throws `cannot_open` where it is for another one. */
export async function openAppKey(ciphertext: string): Promise<AppKey> {
  return importDelivered(await openSealed(ciphertext))
}

async function importDelivered(fragment: string): Promise<AppKey> {
  const delivery = readAppKeyFragment(fragment)
  if (!delivery) throw cannotOpen()
  const { appKey, former } = delivery
  return { ...(await importAppKey(appKey)), ...(former && { old: await importFormer(former) }) }
}

function takeFragment(): string | undefined {
  const { href, hash } = location
  if (!/^#app_key(?:_jwe)?=/.test(hash)) return undefined
  // The whole address: a path alone that begins with // would be one of another host.
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
