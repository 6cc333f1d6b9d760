import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { limits } from '@countersign/protocol/formats/limits'
import {
  appendLeaves,
  hashChildren,
  hashLeaf,
  isConsistent,
  rootFromInclusionProof,
} from '@countersign/protocol/formats/signing/merkle-tree'
import type { Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import { transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { openTestStorage } from '#testing/database.ts'
import type { Storage } from '#platform/database/database.ts'
import { getConsistencyProof, getInclusionProof, proveInclusions } from '#signing/transparency/merkle.ts'
import { insertNodes } from '#signing/transparency/store.ts'

const largest = 300
const leafHashes = Array.from({ length: largest }, (_, nth) => hashLeaf(sha256, Buffer.from(`leaf ${nth}`)))

let storage: Storage
before(async () => {
  storage = await openTestStorage()
  let peaks: Subtree[] = []
  const completed: Subtree[] = []
  for (const leafHash of leafHashes) {
    const grown = appendLeaves(sha256, peaks, leafHash)
    peaks = grown.peaks
    completed.push(...grown.completed)
  }
  await transaction(storage.db, (tx) => insertNodes(tx, completed))
})
after(() => storage.close())

/** Computes the hash of a tree as defined in RFC 9162 §2.1.1, without caching. */
function naiveRoot(leaves: Uint8Array[]): Uint8Array {
  const [first] = leaves
  if (!first) return sha256('')
  if (leaves.length === 1) return first
  const middle = 2 ** Math.ceil(Math.log2(leaves.length) - 1)
  return hashChildren(sha256, naiveRoot(leaves.slice(0, middle)), naiveRoot(leaves.slice(middle)))
}
const treeOf = (size: number) => ({ size, root: naiveRoot(leafHashes.slice(0, size)) })
const bytesOf = (hashes: string[]): Uint8Array[] => hashes.map((hash) => Buffer.from(hash, 'base64'))
const leafAt = (index: number) => leafHashes[index] ?? assert.fail()

/** Lists proofs that differ from the given one by a bit, a missing hash, an extra hash, or their order. */
function alterations(hashes: Uint8Array[], chance: number): Uint8Array[][] {
  const at = chance % Math.max(hashes.length, 1)
  const flipped = hashes.map((hash, nth) =>
    nth === at ? hash.map((byte, place) => byte ^ (place === chance % 32 ? 1 : 0)) : hash,
  )
  return [
    [...hashes, sha256('more')],
    ...(hashes.length > 0 ? [flipped, hashes.slice(1), hashes.slice(0, -1)] : []),
    ...(hashes.length > 1 ? [hashes.toReversed()] : []),
  ]
}

const sizes = fc.integer({ min: 1, max: largest })
const chances = fc.nat({ max: 1000 })

test('TLG-01 each leaf is proved in a tree of any size, and no altered proof verifies', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, chances, chances, async (size, chosen, chance) => {
      const index = chosen % size
      const { root } = treeOf(size)
      const proof = {
        index,
        size,
        leafHash: leafAt(index),
        hashes: bytesOf(await getInclusionProof(storage.db, index, size)),
      }
      const proves = (altered: Partial<typeof proof>) => {
        const found = rootFromInclusionProof(sha256, { ...proof, ...altered })
        return found !== undefined && Buffer.from(found).equals(root)
      }
      assert.ok(proves({}))
      for (const hashes of alterations(proof.hashes, chance)) assert.ok(!proves({ hashes }))
      assert.ok(!proves({ leafHash: sha256('another') }))
      for (const other of [index - 1, index + 1, size, -1, 0.5]) assert.ok(!proves({ index: other }), `at ${other}`)
      assert.ok(!proves({ size: index }))
    }),
  )
})

test('TLG-02 each tree is proved to be a prefix of a later one, and no altered proof verifies', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, chances, chances, async (size, chosen, chance) => {
      const [from, to] = [treeOf(chosen % (size + 1)), treeOf(size)]
      const hashes = bytesOf(await getConsistencyProof(storage.db, from.size, to.size))
      assert.ok(isConsistent(sha256, { from, to, hashes }))
      for (const altered of alterations(hashes, chance)) assert.ok(!isConsistent(sha256, { from, to, hashes: altered }))
      const other = { size: from.size, root: sha256('another') }
      assert.ok(!isConsistent(sha256, { from: other, to, hashes }))
      if (from.size > 0) assert.ok(!isConsistent(sha256, { from, to: { ...to, root: sha256('another') }, hashes }))
      if (from.size < to.size) assert.ok(!isConsistent(sha256, { from: to, to: from, hashes }))
    }),
  )
})

test('a proof has at most as many hashes as the tree is high', async () => {
  for (const index of [0, 1, 128, 255, 256, 298, 299])
    assert.ok((await getInclusionProof(storage.db, index, largest)).length <= 9)
})

test('TLG-16 the proofs of the largest receipt cost as much as its entries, not the square of them', async () => {
  const entriesMax = 21 * (2 * limits.signingKeysMax + 1)
  const costOf = async (count: number) => {
    const indexes = Array.from({ length: count }, (_, nth) => nth % largest)
    const before = process.cpuUsage()
    const proofs = await proveInclusions(storage.db, indexes, largest)
    const { user, system } = process.cpuUsage(before)
    assert.deepEqual(proofs[count - 1], await getInclusionProof(storage.db, (count - 1) % largest, largest))
    return user + system
  }
  await costOf(100)
  // The smaller of two, because other work of the process counts too.
  const quarter = Math.min(await costOf(Math.floor(entriesMax / 4)), await costOf(Math.floor(entriesMax / 4)))
  const whole = Math.min(await costOf(entriesMax), await costOf(entriesMax))
  assert.ok(whole < 8 * quarter, `${whole} and ${quarter} microseconds`)
})
