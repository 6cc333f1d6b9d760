import { curveOfPrivateKey } from '@countersign/protocol/formats/encryption/agreement-key'
import {
  parseAppKeyFragment,
  type AppKey as Delivered,
  type FormerAppKey,
} from '@countersign/protocol/formats/encryption/app-key-fragment'
import { toBase64 } from '@countersign/protocol/formats/base64'
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

/** Imports the key of a fragment. Throws `decryption_failed` for any other text. */
export async function importDelivered(fragment: string): Promise<AppKey> {
  const delivery = parseAppKeyFragment(fragment)
  if (!delivery) throw cannotOpen()
  const { appKey, former } = delivery
  return { ...(await importAppKey(appKey)), ...(former && { old: await importFormer(former) }) }
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
  const imported = await crypto.subtle.importKey('pkcs8', privateKey, parametersOf(curve), false, ['deriveBits'])
  return { mode: 'asymmetric' as const, privateKey: imported }
}
