import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, type Service } from '../server/testing/service.ts'
import { startPostgres } from '../tools/postgres.ts'
import { exchange, textOf, type Reply } from './load/exchange.ts'
import { beginLoad, findLostUpdates, type Load } from './load/load.ts'
import { openSmallDisk } from './harness/small-disk.ts'
import { until } from './harness/process.ts'

const onPostgres = process.env['TEST_DATABASE_URL'] !== undefined
/** Less than a segment of the log, so that the log cannot grow while a table still can. */
const lessThanSegmentBytes = 12 * 1024 * 1024

/** A service whose database is on a small disk: the embedded one, or a temporary PostgreSQL. */
async function startOnSmallDisk(closing: AsyncDisposableStack) {
  const disk = closing.adopt(openSmallDisk(), (each) => each.close())
  const cluster = onPostgres ? closing.use(await startPostgres({ durable: true, parent: disk.directory })) : undefined
  if (cluster) process.env['TEST_DATABASE_URL'] = cluster.url
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
    const startedAt = performance.now()
    assert.equal((await exchange(`${service.baseUrl}/healthz`))?.status, 200)
    assert.ok(performance.now() - startedAt < 1000, 'it responds while the disk is full')
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
