import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { appendLeaves, hashChildren, hashLeaf, rootOf, type Subtree } from '../merkle-tree.ts'

const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

/** Leaves and roots of the trees of 0 to 8 leaves, from the tests of Certificate Transparency. */
const leaves = [
  ...['', '00', '10', '2021', '3031', '40414243'],
  ...['5051525354555657', '606162636465666768696a6b6c6d6e6f'],
]
const roots = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]

test('the trees of Certificate Transparency have their published roots', () => {
  let peaks: Subtree[] = []
  const found = [rootOf(sha256, peaks)]
  for (const leaf of leaves) {
    peaks = appendLeaves(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf, 'hex'))).peaks
    found.push(rootOf(sha256, peaks))
  }
  assert.deepEqual(
    found.map((root) => Buffer.from(root).toString('hex')),
    roots,
  )
})

test('a leaf is not a node: the same bytes have different hashes as either', () => {
  const [left, right] = [sha256(Uint8Array.of(1)), sha256(Uint8Array.of(2))]
  const both = Uint8Array.of(...left, ...right)
  assert.notDeepEqual(hashLeaf(sha256, both), hashChildren(sha256, left, right))
})

test('appending a leaf completes every subtree that ends with it', () => {
  let peaks: Subtree[] = []
  const places: string[] = []
  for (const leaf of leaves) {
    const grown = appendLeaves(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf, 'hex')))
    peaks = grown.peaks
    places.push(grown.completed.map(({ level, index }) => `${level}/${index}`).join(' '))
  }
  assert.deepEqual(places, ['0/0', '0/1 1/0', '0/2', '0/3 1/1 2/0', '0/4', '0/5 1/2', '0/6', '0/7 1/3 2/1 3/0'])
})
