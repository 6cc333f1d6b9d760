/**
 * What pages do with a signing key for the log: they make, replace and adopt keys, and prove them. A page proves only
 * keys that it has made or decrypted itself. The service names keys and log entries, and may lie: a signature over what
 * it names must never help another key.
 */
import { ApiError } from '../api/call.ts'
import { DecryptionError } from '@countersign/keys/envelope'
import { verifySignature } from '@countersign/keys/key-pair'
import type { MasterKey } from '@countersign/keys/master-key'
import type { RecoveredSigningKey } from '@countersign/protocol/signing/key-reset'
import type { NewSigningKey, Adoption, ChainedSigningKey, KeyChain, Rotation } from '@countersign/protocol/signing/keys'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import {
  digestPrefix,
  keyLinkMessage,
  keyPossessionMessage,
  type ProvedKeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { rotationMessage } from '@countersign/protocol/formats/messages/messages'

/** Creates the first signing key of an identity. Its possession is proved if the name of the log is known. */
export async function createSigningKey(
  masterKey: MasterKey,
  identityId: string,
  log: string | undefined,
): Promise<NewSigningKey> {
  const key = await masterKey.newSigningKey(identityId)
  if (log === undefined) return key
  const { publicKey, encryptedPrivateKey } = key
  const identity = await digestOf(identityId)
  const event: ProvedKeyEvent = { event: 'created', identity, keyVersion: 1, previous: null, publicKey }
  const privateKey = await masterKey.openSigningKey(identityId, encryptedPrivateKey)
  return { ...key, possession: await signBytes(privateKey, keyPossessionMessage(log, event)) }
}

/**
 * Creates a new signing key. The current key signs its replacement (interface §4.2), and names it in the log entry,
 * whose possession the new key signs. Throws `key_history_changed` if the service names no entry of the current key.
 */
export async function replaceSigningKey(
  masterKey: MasterKey,
  { identityId, keyVersion, encryptedPrivateKey, chain }: ChainedSigningKey,
): Promise<Rotation> {
  const { log, previous } = chain
  // A key has an entry. Without the hash of it, no proof would hold, and the break would stay.
  if (previous === null) throw new ApiError(409, 'key_history_changed', '')
  const present = await masterKey.openSigningKey(identityId, encryptedPrivateKey)
  const next = await masterKey.newSigningKey(identityId)
  const message = new TextEncoder().encode(rotationMessage({ identityId, ...next }))
  const rotationSignature = await signBytes(present, message)
  const { publicKey } = next
  const identity = await digestOf(identityId)
  const event: ProvedKeyEvent = { event: 'rotated', identity, keyVersion: keyVersion + 1, previous, publicKey }
  const own = await masterKey.openSigningKey(identityId, next.encryptedPrivateKey)
  const link = await signBytes(present, keyLinkMessage(log, event))
  const possession = await signBytes(own, keyPossessionMessage(log, event))
  return { ...next, rotationSignature, previous, link, possession }
}

/**
 * Creates the signing key that replaces a lost one: it proves its possession, and nothing links it. Throws
 * `key_history_changed` if the service names no entry of the key before.
 */
export async function recoverSigningKey(
  masterKey: MasterKey,
  { identityId, keyVersion, chain }: Pick<ChainedSigningKey, 'identityId' | 'keyVersion' | 'chain'>,
): Promise<RecoveredSigningKey> {
  const { log, previous } = chain
  if (previous === null) throw new ApiError(409, 'key_history_changed', '')
  const key = await masterKey.newSigningKey(identityId)
  const { publicKey } = key
  const identity = await digestOf(identityId)
  const event: ProvedKeyEvent = { event: 'recovered', identity, keyVersion: keyVersion + 1, previous, publicKey }
  const own = await masterKey.openSigningKey(identityId, key.encryptedPrivateKey)
  return { ...key, previous, possession: await signBytes(own, keyPossessionMessage(log, event)) }
}

type AdoptableKey = Pick<ChainedSigningKey, 'identityId' | 'keyVersion' | 'publicKey' | 'encryptedPrivateKey'> & {
  chain: KeyChain
}

/**
 * Proves the current key of an identity, if it was logged without proofs; returns undefined if it was not. Throws
 * `foreign_signing_key` before anything is linked if the named public key is not that of the decrypted private key.
 */
export async function adoptSigningKey(
  masterKey: MasterKey,
  { identityId, keyVersion, publicKey, encryptedPrivateKey, chain }: AdoptableKey,
): Promise<Adoption | undefined> {
  const { log, previous, adoption } = chain
  if (!adoption || previous === null) return undefined
  const identity = await digestOf(identityId)
  const event: ProvedKeyEvent = { event: 'adopted', identity, keyVersion, previous, publicKey }
  const own = await masterKey.openSigningKey(identityId, encryptedPrivateKey)
  const message = keyPossessionMessage(log, event)
  const possession = await signBytes(own, message)
  if (!(await isSignedBy(publicKey, possession, message))) throw new ApiError(409, 'foreign_signing_key', '')

  const former = adoption.former && (await openFormer(masterKey, identityId, adoption.former))
  if (!former) return { previous, possession }
  return { previous, possession, link: await signBytes(former, keyLinkMessage(log, event)) }
}

/** Decrypts the key before; returns undefined if this account cannot, because a link is not required. */
async function openFormer(
  masterKey: MasterKey,
  identityId: string,
  { encryptedPrivateKey }: { encryptedPrivateKey: string },
): Promise<CryptoKey | undefined> {
  return masterKey.openSigningKey(identityId, encryptedPrivateKey).catch((error: unknown) => {
    if (error instanceof DecryptionError) return undefined
    throw error
  })
}

async function isSignedBy(publicKey: string, signature: string, message: Uint8Array<ArrayBuffer>): Promise<boolean> {
  const [key, bytes] = [fromCanonicalBase64(publicKey), fromCanonicalBase64(signature)]
  return key !== undefined && bytes !== undefined && verifySignature(key, bytes, message)
}

async function signBytes(key: CryptoKey, message: Uint8Array<ArrayBuffer>): Promise<string> {
  return toBase64(new Uint8Array(await crypto.subtle.sign('Ed25519', key, message)))
}

/** The digest of `identityDigest`, which needs a synchronous hash function; browsers have none. */
async function digestOf(identityId: string): Promise<string> {
  const bytes = new TextEncoder().encode(`${digestPrefix}${identityId}`)
  return toBase64(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)))
}
