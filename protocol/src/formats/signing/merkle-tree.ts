/**
 * Append-only tree of RFC 9162 §2.1 (RFC 6962 §2.1), whose root depends on every leaf and their order. Logs and
 * verifiers must compute it in the same way. A complete subtree of `2^level` leaves never changes.
 */

import { concatBytes, sameBytes } from './bytes.ts'

/** SHA-256 function of the caller: formats have no dependencies. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/** Complete subtree of the `2^level` leaves from `index * 2^level` on. */
export type Subtree = { level: number; index: number; hash: Uint8Array }

export const treeSizeMax = 2 ** 31 - 1

export function hashLeaf(sha256: Sha256, leaf: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(0), leaf))
}

export function hashChildren(sha256: Sha256, left: Uint8Array, right: Uint8Array): Uint8Array {
  return sha256(concatBytes(Uint8Array.of(1), left, right))
}

/**
 * Adds leaves to a tree, which is represented by its largest complete subtrees (`peaks`); returns the subtrees
 * completed.
 */
export function appendLeaves(
  sha256: Sha256,
  peaks: Subtree[],
  leafHash: Uint8Array,
): { peaks: Subtree[]; completed: Subtree[] } {
  let node: Subtree = { level: 0, index: sizeOf(peaks), hash: leafHash }
  const completed = [node]
  let rest = peaks
  for (let left = rest.at(-1); left?.level === node.level; left = rest.at(-1)) {
    node = { level: node.level + 1, index: (node.index - 1) / 2, hash: hashChildren(sha256, left.hash, node.hash) }
    completed.push(node)
    rest = rest.slice(0, -1)
  }
  return { peaks: [...rest, node], completed }
}

/** Computes the root of the leaves under these subtrees, largest first. */
export function rootOf(sha256: Sha256, peaks: Pick<Subtree, 'hash'>[]): Uint8Array {
  const hashes = peaks.map(({ hash }) => hash)
  const last = hashes.pop() ?? sha256(new Uint8Array())
  return hashes.reduceRight((right, left) => hashChildren(sha256, left, right), last)
}

function sizeOf(peaks: Subtree[]): number {
  const last = peaks.at(-1)
  return last ? (last.index + 1) * 2 ** last.level : 0
}

export type InclusionProof = { index: number; size: number; leafHash: Uint8Array; hashes: Uint8Array[] }

/**
 * Computes the root of the tree with this leaf at this index (RFC 9162 §2.1.3.2); undefined if the proof fits no tree.
 */
export function rootFromInclusionProof(
  sha256: Sha256,
  { index, size, leafHash, hashes }: InclusionProof,
): Uint8Array | undefined {
  if (!isSize(size) || !isSize(index) || index >= size) return undefined
  let [node, last, root] = [index, size - 1, leafHash]
  for (const hash of hashes) {
    if (last === 0) return undefined
    const isRight = node % 2 === 1 || node === last
    root = isRight ? hashChildren(sha256, hash, root) : hashChildren(sha256, root, hash)
    if (isRight) [node, last] = passAlone(node, last)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 ? root : undefined
}

type ConsistencyProof = {
  from: { size: number; root: Uint8Array }
  to: { size: number; root: Uint8Array }
  hashes: Uint8Array[]
}

/** Checks that the tree at `to` has all leaves of the one at `from`, at the same indexes (RFC 9162 §2.1.4.2). */
export function isConsistent(sha256: Sha256, { from, to, hashes }: ConsistencyProof): boolean {
  if (!isSize(from.size) || !isSize(to.size) || from.size > to.size) return false
  if (from.size === to.size) return hashes.length === 0 && sameBytes(from.root, to.root)
  if (from.size === 0) return hashes.length === 0 && sameBytes(from.root, sha256(new Uint8Array()))
  const [first, ...rest] = isPowerOfTwo(from.size) ? [from.root, ...hashes] : hashes
  if (!first) return false

  let [node, last] = [from.size - 1, to.size - 1]
  while (node % 2 === 1) [node, last] = [half(node), half(last)]
  let [fromRoot, toRoot] = [first, first]
  for (const hash of rest) {
    if (last === 0) return false
    if (node % 2 === 1 || node === last) {
      fromRoot = hashChildren(sha256, hash, fromRoot)
      toRoot = hashChildren(sha256, hash, toRoot)
      ;[node, last] = passAlone(node, last)
    } else toRoot = hashChildren(sha256, toRoot, hash)
    ;[node, last] = [half(node), half(last)]
  }
  return last === 0 && sameBytes(fromRoot, from.root) && sameBytes(toRoot, to.root)
}

/** Skips the levels on which a node at the right edge has no sibling. */
function passAlone(node: number, last: number): [number, number] {
  return node % 2 === 1 || node === 0 ? [node, last] : passAlone(half(node), half(last))
}

function half(number: number): number {
  return Math.floor(number / 2)
}

function isPowerOfTwo(number: number): boolean {
  return number % 2 === 0 ? isPowerOfTwo(number / 2) : number === 1
}

function isSize(number: number): boolean {
  return Number.isInteger(number) && number >= 0 && number <= treeSizeMax
}
