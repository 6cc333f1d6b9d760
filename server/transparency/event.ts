import { toBase64 } from '@countersign/protocol/formats/base64'
import { identityDigest, writeKeyEvent, type KeyEventKind } from '@countersign/protocol/formats/key-event'
import { hashLeaf } from '@countersign/protocol/formats/merkle-tree'
import type { LoggedKeyEvent } from '@countersign/protocol/transparency'
import { secondsAfter } from '#kernel/clock.ts'
import type { Transaction } from '#kernel/database.ts'
import { sha256 } from '#kernel/digest.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { randomBytes } from '#kernel/random.ts'
import { readLog, type Log } from './log.ts'
import { proveInclusion } from './proof.ts'
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

/** Everything that the log tells of an identity, the first first, with what proves each of it under one checkpoint. */
export async function listKeyEvents(
  kernel: Pick<Kernel, 'db' | 'keyring'>,
  identityId: string,
  now: Date,
): Promise<{ checkpoint: string; events: LoggedKeyEvent[] }> {
  const log = await readLog(kernel, now)
  const leaves = await store.listLeavesOfIdentity(kernel.db, digestOf(identityId))
  const events: LoggedKeyEvent[] = []
  for (const leaf of leaves) if (leaf.index < log.size) events.push(await prove(kernel.db, leaf, log))
  return { checkpoint: log.checkpoint, events }
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
  const keys: (LoggedKeyEvent | undefined)[] = []
  for (const { identityId, keyVersion } of sought) {
    const leaf = await store.findLeafOfKey(kernel.db, digestOf(identityId), keyVersion)
    keys.push(leaf && leaf.index < log.size ? await prove(kernel.db, leaf, log) : undefined)
  }
  return { log, keys }
}

async function prove(
  db: Kernel['db'],
  { index, leaf }: { index: number; leaf: string },
  { size }: Pick<Log, 'size'>,
): Promise<LoggedKeyEvent> {
  return { index, leaf, hashes: await proveInclusion(db, index, size) }
}

function digestOf(identityId: string): Buffer {
  return Buffer.from(identityDigest(sha256, identityId), 'base64')
}

function drawDelaySeconds(): number {
  return (randomBytes(4).readUInt32BE() / 2 ** 32) * removalDelaySecondsMax
}
