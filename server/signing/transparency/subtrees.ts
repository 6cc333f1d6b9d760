import { rootOf, type Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import * as store from './store.ts'
import type { Place } from './store.ts'

/** Leaves that stand beside each other: those from `start` on, before `end`. */
export type Range = { start: number; end: number }

/** The complete subtrees that a range is made of, from its left to its right. */
export function subtreesOf({ start, end }: Range): Place[] {
  const places: Place[] = []
  for (let at = start; at < end;) {
    let [level, width] = [0, 1]
    while (at % (2 * width) === 0 && at + 2 * width <= end) [level, width] = [level + 1, 2 * width]
    places.push({ level, index: at / width })
    at += width
  }
  return places
}

/** These subtrees with their hashes, in this order. Each of them must be complete. */
export async function readSubtrees(db: Database | Transaction, places: Place[]): Promise<Subtree[]> {
  if (places.length === 0) return []
  const wanted = new Map(places.map((place) => [nameOf(place), place]))
  const nodes = new Map((await store.readNodes(db, [...wanted.values()])).map((node) => [nameOf(node), node]))
  return places.map((place) => {
    const node = nodes.get(nameOf(place))
    if (!node) throw new Error(`the log has lost the subtree ${nameOf(place)}`)
    return node
  })
}

/** The hash of each range, for which all that is needed is read at once. */
export async function hashRanges(db: Database, ranges: Range[]): Promise<Uint8Array[]> {
  const places = ranges.map(subtreesOf)
  const subtrees = await readSubtrees(db, places.flat())
  return places.map((own) => rootOf(sha256, subtrees.splice(0, own.length)))
}

function nameOf({ level, index }: Place): string {
  return `${level}/${index}`
}
