import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomTokenBytes } from '#platform/crypto/random.ts'

test('no random bytes of tokens are returned twice, and none are zeros that were left of earlier ones', () => {
  const sizes = [16, 32, 4096, 7, 4097]
  const drawn = Array.from({ length: 2000 }, (_, index) => randomTokenBytes(sizes[index % sizes.length] ?? 0))
  for (const [index, bytes] of drawn.entries()) assert.equal(bytes.length, sizes[index % sizes.length])
  const all = Buffer.concat(drawn)
  const parts = Array.from({ length: Math.floor(all.length / 8) }, (_, part) => all.readBigUInt64LE(part * 8))
  assert.equal(new Set(parts).size, parts.length)
})
