import { toBase64 } from '@countersign/protocol/formats/base64'
import { identityDigest, writeKeyEvent, type KeyEventKind } from '@countersign/protocol/formats/signing/key-event'
import { hashLeaf } from '@countersign/protocol/formats/signing/merkle-tree'
import type { IdentityId } from '@countersign/protocol/ids'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { addSeconds } from '#platform/clock.ts'
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

type NewEvent = { event: KeyEventKind; identityId: IdentityId; publicKey: Uint8Array; keyVersion: number }

/** Appends a key event to the log, in the transaction that changes the key. */
export async function appendKeyEvent(
  tx: Transaction,
  { event, identityId, publicKey, keyVersion }: NewEvent,
  now: Date,
): Promise<void> {
  const at = event === 'removed' ? addSeconds(now, drawDelaySeconds()) : now
  const identity = identityDigest(sha256, identityId)
  const leaf = writeKeyEvent({ event, identity, publicKey: toBase64(publicKey), keyVersion, at: at.toISOString() })
  const leafSha256 = hashLeaf(sha256, Buffer.from(leaf))
  await store.insertLeaf(tx, {
    identitySha256: digestOf(identityId),
    keyVersion,
    event,
    leaf,
    leafSha256,
    integrateAt: at,
  })
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
