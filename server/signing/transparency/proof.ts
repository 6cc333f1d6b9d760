import { toBase64 } from '@countersign/protocol/formats/base64'
import type { Database } from '#platform/database/database.ts'
import { hashRanges, type Range } from './subtrees.ts'

/** That a leaf stands at `index` of the tree of this size (RFC 9162 §2.1.3.1). */
export async function proveInclusion(db: Database, index: number, size: number): Promise<string[]> {
  const [hashes = []] = await proveInclusions(db, [index], size)
  return hashes
}

/** The same for several leaves, in their order, for which all that is needed is read at once. */
export async function proveInclusions(db: Database, indexes: number[], size: number): Promise<string[][]> {
  const paths = indexes.map((index) => besidePath(index, { start: 0, end: size }))
  const hashes = (await hashRanges(db, paths.flat())).map(toBase64)
  return paths.map(({ length }) => hashes.splice(0, length))
}

/** That the tree of the size `from` is the beginning of that of the size `to` (RFC 9162 §2.1.4.1). */
export async function proveConsistency(db: Database, from: number, to: number): Promise<string[]> {
  if (from === 0) return []
  return (await hashRanges(db, besideEdge(from, { start: 0, end: to }, true))).map(toBase64)
}

/** What stands beside the way from the root to a leaf, the lowest first: PATH of the RFC. */
function besidePath(index: number, { start, end }: Range): Range[] {
  if (end - start === 1) return []
  const middle = middleOf({ start, end })
  return index < middle
    ? [...besidePath(index, { start, end: middle }), { start: middle, end }]
    : [...besidePath(index, { start: middle, end }), { start, end: middle }]
}

/** The same for the right edge of the tree of the size `from`, whose root the verifier has: SUBPROOF of the RFC. */
function besideEdge(from: number, { start, end }: Range, isKnown: boolean): Range[] {
  if (from === end) return isKnown ? [] : [{ start, end }]
  const middle = middleOf({ start, end })
  return from <= middle
    ? [...besideEdge(from, { start, end: middle }, isKnown), { start: middle, end }]
    : [...besideEdge(from, { start: middle, end }, false), { start, end: middle }]
}

/** Where a range divides: after the largest power of two that is less than its length. */
function middleOf({ start, end }: Range): number {
  let width = 1
  while (2 * width < end - start) width *= 2
  return start + width
}
