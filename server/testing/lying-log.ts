import { generateKeyPairSync, hash, sign, type KeyObject } from 'node:crypto'
import { toTrustedLog, writeCheckpoint, writeNote } from '@countersign/protocol/formats/signing/checkpoint'
import {
  hashKeyEvent,
  identityDigest,
  keyLinkMessage,
  keyPossessionMessage,
  parseKeyEvent,
  writeKeyEvent,
  type KeyEvent,
} from '@countersign/protocol/formats/signing/key-event'
import { hashChildren, hashLeaf } from '@countersign/protocol/formats/signing/merkle-tree'

export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Creates a key pair that signs bytes, with the public key in base64. */
export function newKeyPair() {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const raw = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url')
  return { publicKey: raw.toString('base64'), raw, sign: (message: Uint8Array | string) => signed(message, privateKey) }
}
export type KeyPair = ReturnType<typeof newKeyPair>

function signed(message: Uint8Array | string, privateKey: KeyObject): string {
  return sign(null, typeof message === 'string' ? Buffer.from(message) : message, privateKey).toString('base64')
}

type NewLeaf = Partial<KeyEvent> & Pick<KeyEvent, 'event'> & { linkedBy?: KeyPair | null; provedBy?: KeyPair | null }

/** Log whose key the test has, so that it can contain anything. It computes proofs without the code of the product. */
export function createLog(origin = 'localhost/transparency', key = newKeyPair()) {
  const trusted = toTrustedLog(sha256, { name: origin, publicKey: key.raw })
  return { origin, key, trusted, leaves: [] as string[] }
}
export type LyingLog = ReturnType<typeof createLog>

/** Adds a leaf of an identity's key, linked to and proved by the given keys; null leaves the proof out. */
export function addLeaf(log: LyingLog, identityId: string, pair: KeyPair, { linkedBy, provedBy, ...given }: NewLeaf) {
  const identity = identityDigest(sha256, identityId)
  const last = log.leaves.findLast((leaf) => parseKeyEvent(leaf)?.identity === identity)
  const lastVersion = parseKeyEvent(last ?? '')?.keyVersion ?? 0
  const isSameKey = given.event === 'removed' || given.event === 'adopted'
  const keyEvent = {
    identity,
    keyVersion: lastVersion + (isSameKey ? 0 : 1),
    previous: last === undefined ? null : hashKeyEvent(sha256, last),
    publicKey: pair.publicKey,
    at: new Date(Date.UTC(2030, 0, 1) + log.leaves.length * 1000).toISOString(),
    ...given,
  }
  const link = linkedBy ? linkedBy.sign(keyLinkMessage(log.origin, keyEvent)) : null
  const prover = provedBy === undefined && given.event !== 'removed' ? pair : provedBy
  const possession = prover ? prover.sign(keyPossessionMessage(log.origin, keyEvent)) : null
  log.leaves.push(writeKeyEvent({ link, possession, ...keyEvent }))
}

/** Signs the head of the log, or of its first leaves. */
export function checkpointOf({ origin, key, leaves }: LyingLog, size = leaves.length): string {
  const text = writeCheckpoint({ origin, size, root: rootOf(leaves.slice(0, size)) })
  const signature = Buffer.from(key.sign(text), 'base64')
  return writeNote(sha256, text, { name: origin, publicKey: key.raw }, signature)
}

/** Lists the leaves of an identity with their proofs, as the service does. */
export function eventsOf({ leaves }: LyingLog, identityId: string, size = leaves.length) {
  const identity = identityDigest(sha256, identityId)
  const tree = leaves.slice(0, size)
  return tree.flatMap((leaf, index) => {
    if (parseKeyEvent(leaf)?.identity !== identity) return []
    return [{ index, leaf, hashes: pathOf(index, tree).map(base64) }]
  })
}

export function consistencyOf({ leaves }: LyingLog, from: number, to: number): string[] {
  return from === 0 || from === to ? [] : subproof(from, leaves.slice(0, to), true).map(base64)
}

/** Root of a tree (RFC 9162 §2.1.1). */
function rootOf(leaves: string[]): Uint8Array {
  const [first] = leaves
  if (first === undefined) return sha256(new Uint8Array())
  if (leaves.length === 1) return hashLeaf(sha256, Buffer.from(first))
  const half = halfOf(leaves)
  return hashChildren(sha256, rootOf(leaves.slice(0, half)), rootOf(leaves.slice(half)))
}

/** Inclusion proof (RFC 9162 §2.1.3.1). */
function pathOf(index: number, leaves: string[]): Uint8Array[] {
  if (leaves.length <= 1) return []
  const half = halfOf(leaves)
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)]
  return index < half ? [...pathOf(index, left), rootOf(right)] : [...pathOf(index - half, right), rootOf(left)]
}

/** Consistency proof (RFC 9162 §2.1.4.1). */
function subproof(from: number, leaves: string[], isWhole: boolean): Uint8Array[] {
  if (from === leaves.length) return isWhole ? [] : [rootOf(leaves)]
  const half = halfOf(leaves)
  const [left, right] = [leaves.slice(0, half), leaves.slice(half)]
  if (from <= half) return [...subproof(from, left, isWhole), rootOf(right)]
  return [...subproof(from - half, right, false), rootOf(left)]
}

function halfOf(leaves: string[]): number {
  return 2 ** Math.ceil(Math.log2(leaves.length) - 1)
}
