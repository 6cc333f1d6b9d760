import { type Subtree, rootOf } from '@countersign/protocol/formats/signing/merkle-tree'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import * as store from './store.ts'
import type { NodeId } from './store.ts'
import { toBase64 } from '@countersign/protocol/formats/base64'

/** Range of adjacent leaves: from `start` on, before `end`. */
export type Range = { start: number; end: number }

/** Lists the complete subtrees that form a range, from left to right. */
export function subtreesOf({ start, end }: Range): NodeId[] {
  const places: NodeId[] = []
  for (let at = start; at < end;) {
    let [level, width] = [0, 1]
    while (at % (2 * width) === 0 && at + 2 * width <= end) [level, width] = [level + 1, 2 * width]
    places.push({ level, index: at / width })
    at += width
  }
  return places
}

/** Loads the hashes of these subtrees, in the same order. Each subtree must be complete. */
export async function loadSubtrees(db: Database | Transaction, places: NodeId[]): Promise<Subtree[]> {
  if (places.length === 0) return []
  const requested = new Map(places.map((place) => [nameOf(place), place]))
  const nodes = new Map((await store.findNodes(db, [...requested.values()])).map((node) => [nameOf(node), node]))
  return places.map((place) => {
    const node = nodes.get(nameOf(place))
    if (!node) throw new Error(`the log has lost the subtree ${nameOf(place)}`)
    return node
  })
}

/** Computes the hash of each range; loads all required nodes at once. */
async function hashRanges(db: Database, ranges: Range[]): Promise<Uint8Array[]> {
  const places = ranges.map(subtreesOf)
  const subtrees = await loadSubtrees(db, places.flat())
  return split(subtrees, places).map((own) => rootOf(sha256, own))
}

/**
 * Splits a list into adjacent parts as long as these. Receipts have hundreds of thousands of them: taking each from the
 * front of the list would cost the square.
 */
export function split<Each>(list: readonly Each[], parts: readonly { length: number }[]): Each[][] {
  let start = 0
  return parts.map(({ length }) => list.slice(start, (start += length)))
}

function nameOf({ level, index }: NodeId): string {
  return `${level}/${index}`
}

/** Returns the inclusion proof of the leaf at `index` in the tree of this size (RFC 9162 §2.1.3.1). */
export async function getInclusionProof(db: Database, index: number, size: number): Promise<string[]> {
  const [hashes = []] = await proveInclusions(db, [index], size)
  return hashes
}

/** Returns the inclusion proofs of several leaves, in order; loads all required nodes at once. */
export async function proveInclusions(db: Database, indexes: number[], size: number): Promise<string[][]> {
  const paths = indexes.map((index) => besidePath(index, { start: 0, end: size }))
  const hashes = (await hashRanges(db, paths.flat())).map(toBase64)
  return split(hashes, paths)
}

/** Returns the proof that the tree of size `to` extends the tree of size `from` (RFC 9162 §2.1.4.1). */
export async function getConsistencyProof(db: Database, from: number, to: number): Promise<string[]> {
  if (from === 0) return []
  return (await hashRanges(db, besideEdge(from, { start: 0, end: to }, true))).map(toBase64)
}

/** Lists the siblings on the path from the root to a leaf, lowest first: PATH of the RFC. */
function besidePath(index: number, { start, end }: Range): Range[] {
  if (end - start === 1) return []
  const middle = middleOf({ start, end })
  return index < middle
    ? [...besidePath(index, { start, end: middle }), { start: middle, end }]
    : [...besidePath(index, { start: middle, end }), { start, end: middle }]
}

/**
 * Lists the siblings along the right edge of the tree of size `from`, whose root the verifier knows: SUBPROOF of the
 * RFC.
 */
function besideEdge(from: number, { start, end }: Range, isKnown: boolean): Range[] {
  if (from === end) return isKnown ? [] : [{ start, end }]
  const middle = middleOf({ start, end })
  return from <= middle
    ? [...besideEdge(from, { start, end: middle }, isKnown), { start: middle, end }]
    : [...besideEdge(from, { start: middle, end }, false), { start, end: middle }]
}

/** Returns where a range is split: after the largest power of two below its length. */
function middleOf({ start, end }: Range): number {
  let width = 1
  while (2 * width < end - start) width *= 2
  return start + width
}
