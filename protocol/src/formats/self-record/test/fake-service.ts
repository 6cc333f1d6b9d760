import { toBase64 } from '../../base64.ts'
import { writeCheckpoint, writeNote, writeVerifierKey } from '../../signing/checkpoint.ts'
import { identityDigest, parseKeyEvent } from '../../signing/key-event.ts'
import { inclusionPromiseMessage, promiseSeconds } from '../../signing/inclusion-promise.ts'
import { hashChildren, hashLeaf } from '../../signing/merkle-tree.ts'
import { hashOf, leafOf, log, testKey, type LeafProofs, type TestKey } from '../../signing/test/key-chain.ts'
import { nodeSuite } from '../../../signing/receipt-verification.ts'
import type { Answers, DeviceMemory, LoggedLeaf, NamedKey } from '../answers.ts'
import { checkSelf, type CheckResult } from '../check.ts'
import type { PromisedLeaf, SelfRecord } from '../record.ts'

const { sha256 } = nodeSuite
export const identityId = '01934c2e-7a00-7abc-8def-0123456789ab'
export const otherIdentityId = '01934c2e-7a00-7abc-8def-0123456789ac'
export const logKey = testKey('log')
export const verifierKey = writeVerifierKey(sha256, { name: log, publicKey: logKey.raw })
export const now = new Date('2030-01-02T00:00:00.000Z')

/** A log as an honest or a lying service keeps it: leaves that it can drop, replace and fork. */
export type FakeLog = { leaves: string[]; signer: TestKey }

export function fakeLog(...leaves: string[]): FakeLog {
  return { leaves: ['unrelated leaf', ...leaves], signer: logKey }
}

export function noteOf({ leaves, signer }: FakeLog): string {
  const text = writeCheckpoint({ origin: log, size: leaves.length, root: rootOf(hashesOf(leaves)) })
  const signature = Buffer.from(signer.sign(Buffer.from(text)), 'base64')
  return writeNote(sha256, text, { name: log, publicKey: signer.raw }, signature)
}

/** Writes a leaf of an identity that follows the leaf before. */
export function leafAt(
  hour: number,
  key: TestKey,
  { before, proofs = {}, of = identityId, ...fields }: LeafInput = {},
): string {
  const last = before === undefined ? undefined : parseKeyEvent(before)
  const keyVersion = (last?.keyVersion ?? 0) + 1
  const event = {
    event: last ? ('rotated' as const) : ('created' as const),
    identity: identityDigest(sha256, of),
    keyVersion,
    previous: before === undefined ? null : hashOf(before),
    publicKey: key.publicKey,
    ...fields,
  }
  return leafOf(`2030-01-01T${String(hour).padStart(2, '0')}:00:00.000Z`, event, proofs)
}
type LeafInput = {
  before?: string
  proofs?: LeafProofs
  of?: string
  event?: 'removed' | 'adopted' | 'recovered'
  keyVersion?: number
}

export function promiseFor(leaf: string, issued: string, signer = logKey): PromisedLeaf {
  const due = new Date(Date.parse(issued) + promiseSeconds * 1000).toISOString()
  const promise = { due, issued, leaf: hashOf(leaf), log }
  return { leaf, promise: { ...promise, signature: signer.sign(inclusionPromiseMessage(promise)) } }
}

type Serving = {
  /** Heads that the record and the device know, for which the service proves consistency. */
  from?: FakeLog[]
  keys?: NamedKey[]
  identityIds?: string[]
  /** Identity whose leaves are shown; others have none. */
  of?: string
}

export function named(key: TestKey, isOwn = true): NamedKey {
  return { identityId, handle: 'ada', publicKey: key.publicKey, isOwn }
}

/** Answers as the service would for this log. */
export function answersOf(
  served: FakeLog,
  { from = [], keys = [], identityIds = [identityId] }: Serving = {},
): Answers {
  const hashes = hashesOf(served.leaves)
  const eventsOf = (id: string): LoggedLeaf[] =>
    served.leaves.flatMap((leaf, index) =>
      leaf.includes(identityDigest(sha256, id))
        ? [{ index, leaf, hashes: inclusionOf(index, hashes).map(toBase64) }]
        : [],
    )
  const sizes = from.map(({ leaves }) => leaves.length).filter((size) => size < served.leaves.length)
  return {
    logKey: verifierKey,
    histories: identityIds.map((id) => ({
      identityId: id,
      pages: [{ checkpoint: noteOf(served), events: eventsOf(id) }],
    })),
    keys,
    identityIds,
    proofs: sizes.map((size) => ({
      from: size,
      to: served.leaves.length,
      hashes: consistencyOf(size, hashes).map(toBase64),
    })),
  }
}

export type Checked = { record?: SelfRecord | undefined; memory?: DeviceMemory | undefined; at?: Date }

export function check(answers: Answers, { record, memory, at = now }: Checked = {}): CheckResult {
  const answered = record ? { kind: 'record' as const, record } : { kind: 'absent' as const }
  return checkSelf(nodeSuite, { answered, memory, answers, now: at })
}

/** Returns the record and memory after a check without contradiction. */
export function accepted(answers: Answers, before: Checked = {}): { record: SelfRecord; memory: DeviceMemory } {
  const result = check(answers, before)
  if (result.kind !== 'ok') throw new Error(result.code)
  const record = result.next ?? before.record
  if (!record) throw new Error('nothing to record')
  return { record, memory: { ...result.memory, sequence: record.sequence } }
}

export function codeOf(result: CheckResult): string {
  return result.kind === 'ok' ? 'ok' : result.code
}

function hashesOf(leaves: string[]): Uint8Array[] {
  return leaves.map((leaf) => hashLeaf(sha256, Buffer.from(leaf)))
}

function rootOf(hashes: Uint8Array[]): Uint8Array {
  const [first] = hashes
  if (!first) return sha256(new Uint8Array())
  if (hashes.length === 1) return first
  const middle = splitOf(hashes.length)
  return hashChildren(sha256, rootOf(hashes.slice(0, middle)), rootOf(hashes.slice(middle)))
}

/** RFC 9162 §2.1.3.1. */
function inclusionOf(index: number, hashes: Uint8Array[]): Uint8Array[] {
  if (hashes.length < 2) return []
  const middle = splitOf(hashes.length)
  const [left, right] = [hashes.slice(0, middle), hashes.slice(middle)]
  return index < middle
    ? [...inclusionOf(index, left), rootOf(right)]
    : [...inclusionOf(index - middle, right), rootOf(left)]
}

/** RFC 9162 §2.1.4.1. */
function consistencyOf(size: number, hashes: Uint8Array[], isWhole = true): Uint8Array[] {
  if (size === hashes.length) return isWhole ? [] : [rootOf(hashes)]
  const middle = splitOf(hashes.length)
  const [left, right] = [hashes.slice(0, middle), hashes.slice(middle)]
  return size <= middle
    ? [...consistencyOf(size, left, isWhole), rootOf(right)]
    : [...consistencyOf(size - middle, right, false), rootOf(left)]
}

/** Returns the largest power of two below a number. */
function splitOf(count: number): number {
  let middle = 1
  while (middle * 2 < count) middle *= 2
  return middle
}
