import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as elapsed } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { serveHere } from '../../../server/testing/service-here.ts'
import type { Served } from '../../../server/testing/service.ts'
import { inherited } from '../../testing/environment.ts'

const main = join(import.meta.dirname, '../../main.ts')
const environment = { SECRET_KEY: 'a-secret-key-for-tests-of-32-characters' }

/** Node's `fetch` waits five minutes for a response, and for each part of it. Here it waits one second. */
const impatience = `
await fetch('data:,')
const key = Symbol.for('undici.globalDispatcher.2')
globalThis[key] = new globalThis[key].constructor({ headersTimeout: 1000, bodyTimeout: 1000 })
`
const slownessMilliseconds = 3000

/** A slow connection to the service: in both directions, the first bytes are delayed. */
async function openSlowLine(t: TestContext, { baseUrl }: Served): Promise<string> {
  const line = createServer((near) => {
    const far = connect(Number(new URL(baseUrl).port), 'localhost')
    void carry(near, far)
    void carry(far, near)
  }).listen(0)
  t.after(() => line.close())
  await once(line, 'listening')
  const address = line.address()
  assert.ok(address !== null && typeof address === 'object')
  return `http://localhost:${address.port}`
}

async function carry(from: Socket, to: Socket): Promise<void> {
  from.on('error', () => to.destroy())
  await once(from, 'readable')
  await elapsed(slownessMilliseconds)
  from.pipe(to)
}

async function countersign(t: TestContext, service: Served, words: string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'impatience.mjs'), impatience)
  const env = {
    ...inherited,
    BASE_URL: await openSlowLine(t, service),
    ADMIN_TOKEN: service.settings.ADMIN_TOKEN,
    BACKUP_PASSPHRASE: 'four words that are long',
    NODE_OPTIONS: `--import=${join(folder, 'impatience.mjs')}`,
  }
  return new Promise<string>((resolve) => {
    execFile(process.execPath, [main, ...words], { env }, (error, stdout, stderr) => resolve(error ? stderr : stdout))
  })
}

test("a backup and its restore can take longer than the time limits of Node's fetch", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  const first = await serveHere(environment)
  t.after(() => first.close())
  const second = await serveHere(environment)
  t.after(() => second.close())
  const file = join(folder, 'slow.age')
  assert.match(await countersign(t, first, ['backup', '--out', file]), /^Backup written/)
  assert.match(await countersign(t, second, ['restore', file]), /^Restored/)
})
