import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { CountersignError, parseBaseUrl } from '../shared/error.ts'
import type { EncryptionContext } from './content.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { importPublicKey, open, seal } from './jwe.ts'
import type { Operations } from '../shared/api-types.ts'

type LookUp = Operations['GET /api/encryption/app-lookup']

/** The API host of Countersign, and the app whose app keys are used. */
export type Directory = { baseUrl: string; clientId: string }

/** A user who has connected this app, and their public key for it. */
export type Recipient = Pick<LookUp['answer'], 'identityId' | 'handle' | 'displayName' | 'publicKey'>

const patienceMilliseconds = 15_000

/**
 * Encrypts a text or bytes to a public key. Returns a compact JWE (`ECDH-ES`, `A256GCM`). It does not authenticate the
 * sender.
 */
export async function encryptToPublicKey(
  publicKey: string,
  content: string | Uint8Array,
  { context }: EncryptionContext,
): Promise<string> {
  const key = await importPublicKey(publicKey)
  if (!key) throw new TypeError('publicKey must be an X25519 or P-256 key as SPKI in base64')
  return seal(key, context, content)
}

/**
 * Encrypts to a user by handle. The service returns the user's key, and could return another one: store `publicKey` of
 * the result, and pass it the next time. Throws `public_key_changed` if the key differs then.
 */
export async function encryptToUser(
  directory: Directory,
  handle: string,
  content: string | Uint8Array,
  { context, publicKey }: EncryptionContext & { publicKey?: string },
): Promise<{ ciphertext: string; recipient: Recipient }> {
  const recipient = await findRecipient(directory, handle)
  if (publicKey !== undefined && publicKey !== recipient.publicKey) throw new CountersignError(changed)
  return { ciphertext: await encryptToPublicKey(recipient.publicKey, content, { context }), recipient }
}

/** Decrypts to the bytes that were wrapped to this user. Throws `decryption_failed`. */
export async function decryptWithPrivateKey(
  privateKey: CryptoKey,
  ciphertext: string,
  { context }: EncryptionContext,
): Promise<Uint8Array> {
  if (privateKey.type !== 'private') throw new TypeError('The private key of a pair is required')
  return open(privateKey, context, ciphertext)
}

/** Looks up a user by handle, with their public key for the app. */
async function findRecipient({ baseUrl, clientId }: Directory, handle: string): Promise<Recipient> {
  const url = new URL('/api/encryption/app-lookup', parseBaseUrl('baseUrl', baseUrl))
  const query: LookUp['query'] = { client_id: clientId, handle }
  url.search = new URLSearchParams(query).toString()
  const answer = await exchange(url, { patienceMilliseconds })
  if (!isAppPublicKey(answer)) throw new CountersignError(unexpected)
  const isRequested = answer.clientId === clientId && normalizeHandle(answer.handle) === normalizeHandle(handle)
  if (!isRequested || !(await importPublicKey(answer.publicKey))) throw new CountersignError(unexpected)
  const { identityId, displayName, publicKey } = answer
  return { identityId, handle: answer.handle, displayName, publicKey }
}

const changed = {
  code: 'public_key_changed',
  description: "The user's public key differs from the expected one.",
}

const unexpected = {
  code: 'unexpected_response',
  description: 'The public key lookup returned an unexpected response.',
}

function isAppPublicKey(value: unknown): value is LookUp['answer'] {
  if (!isRecord(value) || value['encryptionMode'] !== 'asymmetric') return false
  const texts = ['clientId', 'identityId', 'handle', 'displayName', 'publicKey']
  return texts.every((name) => typeof value[name] === 'string')
}
