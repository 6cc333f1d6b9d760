import { toBase64 } from '@countersign/protocol/formats/base64'
import {
  hashKeyEvent,
  identityDigest,
  parseKeyEvent,
  writeKeyEvent,
  type KeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import type { IdentityId } from '@countersign/protocol/ids'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds, maxDate } from '#platform/clock.ts'
import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { getTreeHead, type Log } from './log.ts'
import { proveInclusions } from './merkle.ts'
import * as store from './store.ts'

/**
 * Maximum random delay of a removal in the log. Identities that are deleted together would otherwise be adjacent, which
 * would reveal that they belonged to one user.
 */
const removalDelaySecondsMax = 24 * 3600

/** End of an identity's chain of leaves: what the next leaf follows. */
export type KeyChain = {
  identity: string
  /** Number of leaves. */
  length: number
  /** Hash of the last leaf, base64; null before the first. */
  previous: string | null
  last?: KeyEvent
}

/** Finds the end of an identity's chain. The caller has locked the identity. */
export async function getKeyChain(tx: Transaction, identityId: IdentityId): Promise<KeyChain> {
  const identity = identityDigest(sha256, identityId)
  const found = await store.findLastLeaf(tx, digestOf(identityId))
  if (!found) return { identity, length: 0, previous: null }
  const last = parseKeyEvent(found.leaf)
  if (!last) throw new Error('the log contains a leaf that cannot be parsed')
  return { identity, length: found.sequence, previous: hashKeyEvent(sha256, found.leaf), last }
}

type NewEvent = Pick<KeyEvent, 'event' | 'keyVersion' | 'link' | 'possession'> & { publicKey: Uint8Array }

/**
 * Appends a key event to the log, in the transaction that changes the key, and returns its leaf. Its time is never
 * before that of the last leaf: another process with a faster clock may have written that one.
 */
export async function appendKeyEvent(
  tx: Transaction,
  { identity, length, previous, last }: KeyChain,
  { publicKey, ...event }: NewEvent,
  now: Date,
): Promise<string> {
  const due = event.event === 'removed' ? addSeconds(now, drawDelaySeconds()) : now
  const at = last ? maxDate(due, new Date(last.at)) : due
  const leaf = writeKeyEvent({ ...event, identity, publicKey: toBase64(publicKey), previous, at: at.toISOString() })
  await store.insertLeaf(tx, {
    identitySha256: Buffer.from(identity, 'base64'),
    sequence: length + 1,
    keyVersion: event.keyVersion,
    event: event.event,
    leaf,
    leafSha256: Buffer.from(hashKeyEvent(sha256, leaf), 'base64'),
    integrateAt: at,
  })
  return leaf
}

type Page = { identityId: IdentityId; start: number; count: number }

/**
 * Lists up to `count` log events of an identity from the index `start` on, oldest first. Returns the proof of each
 * under one checkpoint, and the start of the next page.
 */
export async function listKeyEvents(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  { identityId, start, count }: Page,
  now: Date,
): Promise<{ checkpoint: string; events: LoggedKeyEvent[]; nextStart: number | null }> {
  const log = await getTreeHead(kernel, now)
  // One more than requested shows that there is a next page.
  const range = { start, end: log.size, count: count + 1 }
  const found = await store.listLeavesOfIdentity(kernel.db, digestOf(identityId), range)
  const events = await proveAll(kernel.db, found.slice(0, count), log)
  return { checkpoint: log.checkpoint, events, nextStart: found[count]?.index ?? null }
}

type KeyTarget = { identityId: IdentityId; keyVersion: number }

/** Returns the leaf that logs a key of an identity, with its proof; undefined if the log does not contain it. */
export async function getKeyProof(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  target: KeyTarget,
  now: Date,
): Promise<{ log: Log; key: LoggedKeyEvent } | undefined> {
  const { log, keys } = await listKeyProofs(kernel, [target], now)
  const [key] = keys
  return key && { log, key }
}

/** Returns the proofs of several keys under one checkpoint, in order; undefined for a key that is not in the log. */
export async function listKeyProofs(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  target: KeyTarget[],
  now: Date,
): Promise<{ log: Log; keys: (LoggedKeyEvent | undefined)[] }> {
  const log = await getTreeHead(kernel, now)
  const places: (Leaf | undefined)[] = []
  for (const { identityId, keyVersion } of target) {
    const leaf = await store.findLeafOfKey(kernel.db, digestOf(identityId), keyVersion)
    places.push(leaf && leaf.index < log.size ? leaf : undefined)
  }
  const found = places.filter((leaf) => leaf !== undefined)
  const proved = await proveAll(kernel.db, found, log)
  return { log, keys: places.map((leaf) => leaf && proved[found.indexOf(leaf)]) }
}

type Leaf = { index: number; leaf: string }

async function proveAll(
  db: ServerContext['db'],
  leaves: Leaf[],
  { size }: Pick<Log, 'size'>,
): Promise<LoggedKeyEvent[]> {
  const indexes = leaves.map(({ index }) => index)
  const proofs = await proveInclusions(db, indexes, size)
  return leaves.map(({ index, leaf }, nth) => ({ index, leaf, hashes: proofs[nth] ?? [] }))
}

function digestOf(identityId: IdentityId): Buffer {
  return Buffer.from(identityDigest(sha256, identityId), 'base64')
}

function drawDelaySeconds(): number {
  return (randomBytes(4).readUInt32BE() / 2 ** 32) * removalDelaySecondsMax
}
