import { toBase64 } from '@countersign/protocol/formats/base64'
import {
  hashKeyEvent,
  identityDigest,
  parseKeyEvent,
  writeKeyEvent,
  type KeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import type { LoggedKeyEvent, PromisedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds, maxDate } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { getLog, getTreeHead, type Log } from './log.ts'
import { proveInclusions, split } from './merkle.ts'
import { promiseInclusion } from './promise.ts'
import * as store from './store.ts'

/**
 * Maximum random delay of a removal in the log. Identities that are deleted together would otherwise be adjacent, which
 * would reveal that they belonged to one user.
 */
const removalDelaySecondsMax = 24 * 3600

/** End of an identity's chain of leaves: what the next leaf follows. */
export type KeyChainEnd = {
  log: Omit<Log, 'isBehind'>
  identity: string
  /** Number of leaves. */
  length: number
  /** Hash of the last leaf, base64; null before the first. */
  previous: string | null
  last?: KeyEvent
}

/** Finds the end of an identity's chain. A caller that appends to it has locked the identity. */
export async function getKeyChain(db: Database | Transaction, identityId: IdentityId): Promise<KeyChainEnd> {
  const log = await getLog(db)
  const identity = identityDigest(sha256, identityId)
  const found = await store.findLastLeaf(db, digestOf(identityId))
  if (!found) return { log, identity, length: 0, previous: null }
  const last = parseKeyEvent(found.leaf)
  if (!last) throw new Error('the log contains a leaf that cannot be parsed')
  return { log, identity, length: found.sequence, previous: hashKeyEvent(sha256, found.leaf), last }
}

type NewEvent = Pick<KeyEvent, 'event' | 'keyVersion' | 'link' | 'possession'> & { publicKey: Uint8Array }

/**
 * Appends a key event to the log, in the transaction that changes the key, and returns its leaf. Its time is never
 * before that of the last leaf: another process with a faster clock may have written that one.
 */
export async function appendKeyEvent(
  tx: Transaction,
  { identity, length, previous, last }: KeyChainEnd,
  { publicKey, ...event }: NewEvent,
  now: Date,
): Promise<string> {
  const due = event.event === 'removed' ? addSeconds(now, drawDelaySeconds()) : now
  const at = last ? maxDate(due, new Date(last.at)) : due
  const leaf = writeKeyEvent({ ...event, identity, publicKey: toBase64(publicKey), previous, at: at.toISOString() })
  await store.insertLeaf(tx, {
    identitySha256: Buffer.from(identity, 'base64'),
    sequence: length + 1,
    leaf,
    leafSha256: Buffer.from(hashKeyEvent(sha256, leaf), 'base64'),
    integrateAt: at,
  })
  return leaf
}

/** Appends a key event to the log, and promises its inclusion to the client that made the key. */
export async function logKeyEvent(
  { tx, keyring }: { tx: Transaction; keyring: ServerContext['keyring'] },
  chain: KeyChainEnd,
  event: NewEvent,
  now: Date,
): Promise<PromisedKeyEvent> {
  return promiseInclusion(keyring, chain.log, await appendKeyEvent(tx, chain, event, now), now)
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
  const events = await proveLeaves(kernel.db, found.slice(0, count), log)
  return { checkpoint: log.checkpoint, events, nextStart: found[count]?.index ?? null }
}

/**
 * Returns all log entries of identities, in the order of the identities and of the log, with their proofs under one
 * checkpoint.
 */
export async function listKeyHistories(
  kernel: Pick<ServerContext, 'db' | 'keyring'>,
  identityIds: IdentityId[],
  now: Date,
): Promise<{ log: Log; histories: LoggedKeyEvent[][] }> {
  const log = await getTreeHead(kernel, now)
  const range = { start: 0, end: log.size, count: 2 * limits.signingKeysMax + 1 }
  const leaves: Leaf[][] = []
  for (const identityId of identityIds)
    leaves.push(await store.listLeavesOfIdentity(kernel.db, digestOf(identityId), range))
  const proved = await proveLeaves(kernel.db, leaves.flat(), log)
  return { log, histories: split(proved, leaves) }
}

type Leaf = { index: number; leaf: string }

/** Proves that leaves are in the tree of a size. */
export async function proveLeaves(
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
