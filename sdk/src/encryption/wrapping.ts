import { foldHandle } from '@countersign/protocol/formats/handle'
import { addressOf } from '../shared/address.ts'
import type { Place } from './content.ts'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { importPublicKey, open, seal } from './jwe.ts'
import type { Operations } from '../shared/api-types.ts'

type LookUp = Operations['GET /api/encryption/app-lookup']

/** Where Countersign's API is, and the app for which people have their keys. */
export type Directory = { baseUrl: string; clientId: string }

/** Somebody who has connected this app, and their public key for it. */
export type Recipient = Pick<LookUp['answer'], 'identityId' | 'handle' | 'displayName' | 'publicKey'>

const patienceMilliseconds = 15_000

/**
 * Seals a text or bytes to whoever has this public key: a compact JWE (`ECDH-ES`, `A256GCM`). Anybody can make one; it
 * does not tell who has.
 */
export async function wrapTo(publicKey: string, content: string | Uint8Array, { context }: Place): Promise<string> {
  const key = await importPublicKey(publicKey)
  if (!key) throw new TypeError('publicKey is one of X25519 or P-256, as SPKI in base64')
  return seal(key, context, content)
}

/**
 * Seals to somebody by their handle. The service says which key is theirs, and could say another: keep `publicKey` of
 * the answer, and give it the next time. Throws `public_key_changed` where that has become another.
 */
export async function wrapFor(
  directory: Directory,
  handle: string,
  content: string | Uint8Array,
  { context, publicKey }: Place & { publicKey?: string },
): Promise<{ ciphertext: string; recipient: Recipient }> {
  const recipient = await findRecipient(directory, handle)
  if (publicKey !== undefined && publicKey !== recipient.publicKey) throw new CountersignError(changed)
  return { ciphertext: await wrapTo(recipient.publicKey, content, { context }), recipient }
}

/** The bytes that were wrapped to this person. Throws `cannot_open`. */
export async function unwrap(privateKey: CryptoKey, ciphertext: string, { context }: Place): Promise<Uint8Array> {
  if (privateKey.type !== 'private') throw new TypeError('This takes the private key of a pair')
  return open(privateKey, context, ciphertext)
}

/** Who has this handle, and their public key for the app. */
async function findRecipient({ baseUrl, clientId }: Directory, handle: string): Promise<Recipient> {
  const url = new URL('/api/encryption/app-lookup', addressOf('baseUrl', baseUrl))
  const query: LookUp['query'] = { client_id: clientId, handle }
  url.search = new URLSearchParams(query).toString()
  const answer = await exchange(url, { patienceMilliseconds })
  if (!isAppPublicKey(answer)) throw new CountersignError(unexpected)
  const isAsked = answer.clientId === clientId && foldHandle(answer.handle) === foldHandle(handle)
  if (!isAsked || !(await importPublicKey(answer.publicKey))) throw new CountersignError(unexpected)
  const { identityId, displayName, publicKey } = answer
  return { identityId, handle: answer.handle, displayName, publicKey }
}

const changed = {
  code: 'public_key_changed',
  description: 'This person has another public key than the one that was expected.',
}

const unexpected = {
  code: 'unexpected_answer',
  description: 'The public key was answered in a way that is not of the interface.',
}

function isAppPublicKey(value: unknown): value is LookUp['answer'] {
  if (!isRecord(value) || value['encryptionMode'] !== 'asymmetric') return false
  const texts = ['clientId', 'identityId', 'handle', 'displayName', 'publicKey']
  return texts.every((name) => typeof value[name] === 'string')
}
