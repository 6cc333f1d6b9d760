import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

const run = promisify(execFile)
const threadPool = join(import.meta.dirname, '..', 'thread-pool.ts')

/** Returns how many threads Node gets in a process of the service that starts with this setting. */
async function countThreads(setting: Record<string, string>): Promise<number> {
  const program = `await import(${JSON.stringify(threadPool)}); console.log(process.env.UV_THREADPOOL_SIZE)`
  const env = { ...process.env, UV_THREADPOOL_SIZE: '', ...setting }
  return Number((await run(process.execPath, ['--input-type=module', '-e', program], { env })).stdout)
}

test('WHK-28 lookups for requests leave threads to the database, whatever UV_THREADPOOL_SIZE is', async () => {
  assert.equal(await countThreads({}), 8)
  for (const size of ['0', '4', 'many']) assert.equal(await countThreads({ UV_THREADPOOL_SIZE: size }), 8, size)
  assert.equal(await countThreads({ UV_THREADPOOL_SIZE: '32' }), 32)
})
