import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createFileTrustStore, createMemoryTrustStore } from '../src/server/server.ts'

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-trust-'))
  t.after(() => rm(folder, { recursive: true }))
  return folder
}

const identity = `identity/${'ab'.repeat(32)}`

for (const [what, make] of [
  ['of files', async (t: TestContext) => createFileTrustStore(await makeFolder(t))],
  ['in memory', async () => createMemoryTrustStore()],
] as const)
  test(`TRU-16 a store ${what} replaces only the expected value`, async (t) => {
    const store = await make(t)
    for (const key of ['log', identity]) {
      assert.equal(await store.read(key), undefined)
      assert.equal(await store.advance(key, 'a', 'b'), false)
      assert.equal(await store.advance(key, undefined, 'a'), true)
      assert.equal(await store.advance(key, undefined, 'b'), false)
      assert.equal(await store.advance(key, 'a', 'b'), true)
      assert.equal(await store.advance(key, 'a', 'c'), false)
      assert.equal(await store.read(key), 'b')
    }
  })

test('TRU-16 of concurrent changes from one value, one is stored', async (t) => {
  const store = createFileTrustStore(await makeFolder(t))
  for (let round = 0; round < 20; round += 1) {
    const expected = await store.read('log')
    const values = Array.from({ length: 10 }, (_, nth) => `${round}.${nth}`)
    const stored = await Promise.all(values.map((value) => store.advance('log', expected, value)))
    assert.deepEqual(
      values.filter((_, nth) => stored[nth]),
      [await store.read('log')],
    )
  }
})

/** Counts up in the store, and prints how often its change was stored. */
const counting = (folder: string, count: number) => `
  import { createFileTrustStore } from ${JSON.stringify(join(import.meta.dirname, '../src/server/server.ts'))}
  const store = createFileTrustStore(${JSON.stringify(folder)})
  for (let stored = 0; stored < ${count};) {
    const value = await store.read('log')
    if (await store.advance('log', value, String(Number(value ?? 0) + 1))) stored += 1
  }
`

test('TRU-13 processes that share a store of files lose no change', async (t) => {
  const folder = await makeFolder(t)
  const [processes, count] = [4, 50]
  const running = Array.from({ length: processes }, () =>
    spawn(process.execPath, ['--input-type=module', '--eval', counting(folder, count)], { stdio: 'inherit' }),
  )
  for (const [code] of await Promise.all(running.map((each) => once(each, 'close')))) assert.equal(code, 0)
  assert.equal(await createFileTrustStore(folder).read('log'), String(processes * count))
  assert.equal((await readdir(folder)).length, 2, 'earlier values and drafts are removed')
})

test('TRU-14 a process that is killed while it stores leaves a value, the old or the new one', async (t) => {
  const folder = await makeFolder(t)
  const store = createFileTrustStore(folder)
  for (let round = 0; round < 5; round += 1) {
    const before = Number((await store.read('log')) ?? 0)
    const script = counting(folder, 1_000_000).replace('stored += 1', "stored += 1, console.log('stored')")
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'close')
    const after = await store.read('log')
    assert.ok(Number(after) > before)
    assert.equal(await store.advance('log', after, String(Number(after) + 1)), true, 'no lock is left behind')
    assert.equal((await readdir(folder)).length, 2, 'the draft of the killed process is removed')
  }
})

test('a value that was only half written has no name, and is ignored', async (t) => {
  const folder = await makeFolder(t)
  const store = createFileTrustStore(folder)
  await store.advance('log', undefined, 'a')
  await writeFile(join(folder, '.a-draft'), 'half')
  for (const name of ['log.txt', 'log.', 'log.0', 'log.02', 'log.1e3', 'log.-1', 'logs.9'])
    await writeFile(join(folder, name), 'a note of the operator')
  assert.equal(await store.read('log'), 'a')
  assert.equal(await store.advance('log', 'a', 'b'), true)
})

test('a store of files needs a folder that it can write to', async (t) => {
  const folder = await makeFolder(t)
  await writeFile(join(folder, 'file'), '')
  const store = createFileTrustStore(join(folder, 'file'))
  await assert.rejects(store.read('log'), { code: 'ENOTDIR' })
  await assert.rejects(store.advance('log', undefined, 'a'))
})
