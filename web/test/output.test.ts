import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { removeReplaced, writeWhole } from '../output.ts'

const dayMilliseconds = 24 * 3600 * 1000

/** A folder of builds, each at a time of its own. */
function createOutput(t: TestContext) {
  const dist = mkdtempSync(join(tmpdir(), 'countersign-'))
  t.after(() => rmSync(dist, { recursive: true }))
  const assets = join(dist, 'assets')
  mkdirSync(assets)
  const build = (names: string[], day: number) => {
    const now = new Date(day * dayMilliseconds)
    for (const name of names) {
      writeWhole(dist, join('assets', name), name)
      utimesSync(join(assets, name), now, now)
    }
    removeReplaced(dist, new Set(names), now)
    return readdirSync(assets).toSorted()
  }
  return { dist, build }
}

test('an open page loads its files for a day after an upgrade, however long ago they were built', (t) => {
  const { build } = createOutput(t)
  build(['signin-1.js', 'shared.js'], 0)
  assert.deepEqual(build(['signin-2.js', 'shared.js'], 30), ['shared.js', 'signin-1.js', 'signin-2.js'])
  assert.deepEqual(build(['signin-3.js', 'shared.js'], 30.5).length, 4)
  assert.deepEqual(build(['signin-4.js', 'shared.js'], 31.1), [
    'shared.js',
    'signin-2.js',
    'signin-3.js',
    'signin-4.js',
  ])
  assert.deepEqual(build(['signin-4.js', 'shared.js'], 40), ['shared.js', 'signin-4.js'])
})

test('the first build after one that left no list removes nothing', (t) => {
  const { dist, build } = createOutput(t)
  build(['signin-1.js'], 0)
  rmSync(join(dist, 'assets.json'))
  assert.deepEqual(build(['signin-2.js'], 30), ['signin-1.js', 'signin-2.js'])
  assert.deepEqual(build(['signin-2.js'], 32), ['signin-2.js'])
})
