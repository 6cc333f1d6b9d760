import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { prepareService, startService, type Service } from '../server/testing/service.ts'
import { startPostgres } from '../tools/postgres.ts'
import { exchange, textOf, type Reply } from './load/exchange.ts'
import { beginLoad, findLostUpdates, type Load } from './load/load.ts'
import { openSmallDisk } from './harness/small-disk.ts'
import { until } from './harness/process.ts'
import { timed } from './harness/stalls.ts'

const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
/** Less than a segment of the log, so that the log cannot grow while a table still can. */
const lessThanSegmentBytes = 12 * 1024 * 1024

/** A service whose database is on a small disk: the embedded one, or a temporary PostgreSQL. */
async function startOnSmallDisk(closing: AsyncDisposableStack) {
  const disk = closing.adopt(openSmallDisk(), (each) => each.close())
  const cluster = onPostgres ? closing.use(await startPostgres({ durable: true, parent: disk.directory })) : undefined
  if (cluster) useDatabase(closing, cluster.url)
  const service = closing.adopt(
    await startService({
      environment: { RATE_LIMITS: 'off' },
      ...(!cluster && { dataDirectory: join(disk.directory, 'data') }),
    }),
    (each) => each.close(),
  )
  // Its last writes need space, also if the test has failed.
  closing.defer(disk.giveBack)
  return {
    service,
    disk,
    /** What an operator does when there is space again: starts what has ended. */
    async recover(): Promise<void> {
      await cluster?.stop()
      await cluster?.start()
      if (service.process.exitCode !== null) await service.restart()
      await until(`${service.baseUrl}/readyz`, 200)
    },
  }
}

/** Uses another PostgreSQL until the test ends. */
function useDatabase(closing: AsyncDisposableStack, url: string): void {
  const former = process.env['TEST_DATABASE_URL']
  process.env['TEST_DATABASE_URL'] = url
  closing.defer(() => void (process.env['TEST_DATABASE_URL'] = former))
}

async function exitCodeOf({ process }: Service): Promise<number | null> {
  if (process.exitCode === null) await once(process, 'exit', { signal: AbortSignal.timeout(5000) })
  return process.exitCode
}

/** Registers an app that takes some space. */
function registerLargeApp({ baseUrl, admin }: Service): Promise<Reply> {
  const redirectUris = Array.from(
    { length: 40 },
    () => `https://app.example/x${randomBytes(900).toString('base64url')}`,
  )
  return exchange(`${baseUrl}/api/admin/apps`, {
    method: 'POST',
    headers: admin,
    json: { name: 'Large', redirectUris },
  })
}

/** Registers apps until one fails; returns the ids of the acknowledged ones, and the last response. */
async function registerUntilRefused(service: Service) {
  const acknowledged: string[] = []
  for (;;) {
    const reply = await registerLargeApp(service)
    if (reply?.status !== 201) return { acknowledged, refused: reply }
    acknowledged.push(textOf(reply.body, 'clientId'))
    assert.ok(acknowledged.length < 5000, 'the disk never fills up')
  }
}

/** Checks that everything acknowledged is stored. */
async function verify(t: TestContext, { baseUrl, admin }: Service, { customers }: Load, apps: string[]) {
  for (const clientId of apps) {
    const kept = await exchange(`${baseUrl}/api/admin/apps/${clientId}`, { headers: admin })
    assert.equal(kept?.status, 200, `the app ${clientId} was lost`)
  }
  for (const customer of customers) assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
  const sum = (outcome: 'ok' | 'unknown') => customers.reduce((count, { counts }) => count + counts[outcome], 0)
  t.diagnostic(
    `${apps.length} apps and ${sum('ok')} operations acknowledged, ${sum('unknown')} without a response or 503`,
  )
}

test('STO-04 on a full disk failed writes return 503, and acknowledged data is kept', async (t) => {
  await using closing = new AsyncDisposableStack()
  const { service, disk } = await startOnSmallDisk(closing)
  const load = await beginLoad(service, { customers: 3 })
  await wait(500)
  disk.takeAllBut(0)
  const { acknowledged, refused } = await registerUntilRefused(service)
  assert.equal(refused?.status, 503, service.output())
  assert.equal(refused.body['error'], 'temporarily_unavailable')
  assert.match(refused.headers.get('retry-after') ?? '', /^\d+$/)
  for (let probe = 0; probe < 10; probe += 1) {
    const { result: reply, milliseconds } = await timed(() => exchange(`${service.baseUrl}/healthz`))
    assert.equal(reply?.status, 200)
    assert.ok(milliseconds < 1000, 'it responds while the disk is full')
    await wait(100)
  }
  assert.equal(service.process.exitCode, null)
  disk.giveBack()
  const { body } = (await registerLargeApp(service)) ?? {}
  assert.ok(body)
  await load.stop()
  await verify(t, service, load, [...acknowledged, textOf(body, 'clientId')])
})

test('STO-04 if the log cannot grow the database stops, and acknowledged data is kept', async (t) => {
  await using closing = new AsyncDisposableStack()
  const { service, disk, recover } = await startOnSmallDisk(closing)
  const load = await beginLoad(service, { customers: 3 })
  await wait(500)
  disk.takeAllBut(lessThanSegmentBytes)
  const { acknowledged, refused } = await registerUntilRefused(service)
  if (refused) assert.equal(refused.status, 503)
  await load.stop()
  if (!onPostgres) {
    assert.equal(await exitCodeOf(service), 70)
    assert.match(service.output(), /The embedded database has given up .*No space left on device/)
  }
  disk.giveBack()
  await recover()
  await verify(t, service, load, acknowledged)
})

/** Starts a service whose log is a file. Resolves when it answers. */
async function startWithLogFile({ settings, baseUrl }: Awaited<ReturnType<typeof prepareService>>, file: string) {
  const log = openSync(file, 'a')
  const child = spawn(process.execPath, ['server/main.ts'], { env: settings, stdio: ['ignore', log, 'pipe'] })
  closeSync(log)
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(`${baseUrl}/healthz`, 200)
  return {
    said: () => said,
    /** Returns its exit code, or the signal if it had not handled it yet. */
    async stop(): Promise<number | string | null> {
      const isRunning = child.exitCode === null && child.signalCode === null
      if (isRunning && child.kill()) await once(child, 'close', { signal: AbortSignal.timeout(15_000) })
      return child.exitCode ?? child.signalCode
    },
  }
}

/** Returns the lines of a file when it contains all of these texts. */
async function linesWith(file: string, texts: string[]): Promise<string[]> {
  for (const startedAt = performance.now(); ; await wait(20)) {
    const content = readFileSync(file, 'utf8')
    if (texts.every((text) => content.includes(text))) return content.split('\n')
    assert.ok(performance.now() - startedAt < 30_000, content.slice(-2000))
  }
}

test('STO-55 on a full disk of the log the service answers and stops, and logs again when there is room', async () => {
  await using closing = new AsyncDisposableStack()
  const disk = closing.adopt(openSmallDisk(), (each) => each.close())
  const environment = { LOG_LEVEL: 'info', RATE_LIMITS: 'off', WORKERS: onPostgres ? '2' : '1' }
  const service = closing.adopt(await prepareService({ environment }), (each) => each.close())
  const file = join(disk.directory, 'log')
  const ids: string[] = []
  async function ask(count: number): Promise<void> {
    for (let nth = 0; nth < count; nth += 1) {
      const reply = await exchange(`${service.baseUrl}/healthz`)
      assert.equal(reply?.status, 200)
      ids.push(reply.headers.get('x-request-id') ?? '')
    }
  }
  const first = await startWithLogFile(service, file)
  closing.defer(async () => {
    await first.stop()
  })
  await linesWith(file, ['is ready.'])
  disk.takeAllBut(0)
  while (!first.said().includes('cannot be written (ENOSPC)')) await ask(50)
  await ask(200)
  disk.giveBack()
  while (!first.said().includes('is written again')) await ask(50)
  const again = ids.length
  await ask(200)
  const lines = await linesWith(file, ids.slice(again))
  const counts = ids.map((id) => lines.filter((line) => line.startsWith('{') && line.includes(id)).length)
  assert.ok(
    counts.every((count) => count <= 1),
    'no line is written twice',
  )
  // A disk becomes full within a line, after which another worker may write first.
  assert.ok(onPostgres || !counts.includes(0), 'no line is lost')

  disk.takeAllBut(0)
  await ask(200)
  assert.equal(await first.stop(), 0, first.said())
  const second = await startWithLogFile(service, file)
  closing.defer(async () => {
    await second.stop()
  })
  await ask(50)
  assert.ok([0, 'SIGTERM'].includes((await second.stop()) ?? ''), second.said())
})
