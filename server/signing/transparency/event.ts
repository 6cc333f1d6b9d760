import { toBase64 } from '@countersign/protocol/formats/base64'
import { identityDigest, writeKeyEvent, type KeyEventKind } from '@countersign/protocol/formats/signing/key-event'
import { hashLeaf } from '@countersign/protocol/formats/signing/merkle-tree'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { secondsAfter } from '#platform/clock.ts'
import type { Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { readLog, type Log } from './log.ts'
import { proveInclusions } from './proof.ts'
import * as store from './store.ts'

/**
 * Up to how much later a removal is told, by chance: identities that are deleted together would else stand beside each
 * other, and everybody could see that they were one person's.
 */
const removalDelaySecondsMax = 24 * 3600

type NewEvent = { event: KeyEventKind; identityId: string; publicKey: Uint8Array; keyVersion: number }

/** Has the log tell what became of a key, in the transaction in which it does. */
export async function appendKeyEvent(
  tx: Transaction,
  { event, identityId, publicKey, keyVersion }: NewEvent,
  now: Date,
): Promise<void> {
  const at = event === 'removed' ? secondsAfter(now, drawDelaySeconds()) : now
  const identity = identityDigest(sha256, identityId)
  const leaf = writeKeyEvent({ event, identity, publicKey: toBase64(publicKey), keyVersion, at: at.toISOString() })
  const leafSha256 = hashLeaf(sha256, Buffer.from(leaf))
  await store.insertLeaf(tx, { identitySha256: digestOf(identityId), keyVersion, event, leaf, leafSha256, dueAt: at })
}

type Page = { identityId: string; start: number; count: number }

/**
 * What the log tells of an identity from the place `start` on, the first first, with what proves each of it under one
 * checkpoint; up to `count` of it, and where the rest begins.
 */
export async function listKeyEvents(
  kernel: Pick<Kernel, 'db' | 'keyring'>,
  { identityId, start, count }: Page,
  now: Date,
): Promise<{ checkpoint: string; events: LoggedKeyEvent[]; nextStart: number | null }> {
  const log = await readLog(kernel, now)
  // One more than asked tells that there is a next page.
  const range = { start, end: log.size, count: count + 1 }
  const found = await store.listLeavesOfIdentity(kernel.db, digestOf(identityId), range)
  const events = await proveAll(kernel.db, found.slice(0, count), log)
  return { checkpoint: log.checkpoint, events, nextStart: found[count]?.index ?? null }
}

type KeySought = { identityId: string; keyVersion: number }

/** Where the log tells a key of an identity, with what proves it; undefined where it does not. */
export async function proveKey(
  kernel: Pick<Kernel, 'db' | 'keyring'>,
  sought: KeySought,
  now: Date,
): Promise<{ log: Log; key: LoggedKeyEvent } | undefined> {
  const { log, keys } = await proveKeys(kernel, [sought], now)
  const [key] = keys
  return key && { log, key }
}

/** The same for several keys, all under one checkpoint, in their order; undefined in the place of one not told. */
export async function proveKeys(
  kernel: Pick<Kernel, 'db' | 'keyring'>,
  sought: KeySought[],
  now: Date,
): Promise<{ log: Log; keys: (LoggedKeyEvent | undefined)[] }> {
  const log = await readLog(kernel, now)
  const places: (Leaf | undefined)[] = []
  for (const { identityId, keyVersion } of sought) {
    const leaf = await store.findLeafOfKey(kernel.db, digestOf(identityId), keyVersion)
    places.push(leaf && leaf.index < log.size ? leaf : undefined)
  }
  const found = places.filter((leaf) => leaf !== undefined)
  const proved = await proveAll(kernel.db, found, log)
  return { log, keys: places.map((leaf) => leaf && proved[found.indexOf(leaf)]) }
}

type Leaf = { index: number; leaf: string }

async function proveAll(db: Kernel['db'], leaves: Leaf[], { size }: Pick<Log, 'size'>): Promise<LoggedKeyEvent[]> {
  const indexes = leaves.map(({ index }) => index)
  const proofs = await proveInclusions(db, indexes, size)
  return leaves.map(({ index, leaf }, nth) => ({ index, leaf, hashes: proofs[nth] ?? [] }))
}

function digestOf(identityId: string): Buffer {
  return Buffer.from(identityDigest(sha256, identityId), 'base64')
}

function drawDelaySeconds(): number {
  return (randomBytes(4).readUInt32BE() / 2 ** 32) * removalDelaySecondsMax
}
