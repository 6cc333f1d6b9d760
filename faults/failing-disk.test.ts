import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../server/testing/service.ts'
import { startPostgres } from '../tools/postgres.ts'
import { beginLoad, findLostUpdates } from './load/load.ts'
import { childrenOf, until } from './harness/process.ts'

test('STO-13 a disk that fails to flush stops PostgreSQL, and acknowledged data is kept', async (t) => {
  await using closing = new AsyncDisposableStack()
  const cluster = closing.use(await startPostgres({ durable: true }))
  process.env['TEST_DATABASE_URL'] = cluster.url
  const service = closing.adopt(await startService({ environment: { RATE_LIMITS: 'off' } }), (each) => each.close())
  const readiness = `${service.baseUrl}/readyz`
  const load = await beginLoad(service, { customers: 6 })
  await wait(500)

  const disk = failFlushesOf([cluster.pid, ...childrenOf(cluster.pid)])
  const { reply } = await until(readiness, 503)
  assert.equal(reply.body['error'], 'temporarily_unavailable')
  assert.equal((await until(`${service.baseUrl}/healthz`, 200)).reply.status, 200)
  await load.stop()
  assert.match(await disk.detach(), /EIO .*\(INJECTED\)/)

  await cluster.stop()
  await cluster.start()
  await until(readiness, 200)
  for (const customer of load.customers)
    assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
  const sum = (outcome: 'ok' | 'unknown') => load.customers.reduce((count, { counts }) => count + counts[outcome], 0)
  t.diagnostic(`${sum('ok')} operations acknowledged, ${sum('unknown')} without a response or 503`)
  assert.ok(sum('ok') > 0)
})

test('STO-49 a disk that fails to flush stops the embedded database, and acknowledged data is kept', async (t) => {
  await using closing = new AsyncDisposableStack()
  const started = await startService({ embedded: true, environment: { RATE_LIMITS: 'off' } })
  const service = closing.adopt(started, (each) => each.close())
  const { customers, stop } = await beginLoad(service, { customers: 6 })
  await wait(500)

  const ended = once(service.process, 'close', { signal: AbortSignal.timeout(10_000) })
  const disk = failFlushesOf([service.process.pid ?? 0])
  await ended
  await stop()
  assert.match(await disk.detach(), /EIO .*\(INJECTED\)/)
  assert.equal(service.process.exitCode, 70)
  assert.match(service.output(), /The embedded database has given up \(could not fsync .*I\/O error\)/)

  await service.restart()
  for (const customer of customers) assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
  t.diagnostic(`${customers.reduce((count, { counts }) => count + counts.ok, 0)} operations acknowledged`)
})

/** Makes every flush to the disk by these processes and their children fail from now on. */
function failFlushesOf(pids: number[]) {
  const flushes = 'fsync,fdatasync'
  const tracer = spawn(
    'strace',
    [
      '-f',
      '-e',
      `trace=${flushes}`,
      '-e',
      `inject=${flushes}:error=EIO`,
      ...pids.flatMap((pid) => ['-p', String(pid)]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  )
  let output = ''
  tracer.stderr.setEncoding('utf8').on('data', (text: string) => void (output += text))
  // Observed from now on: it ends by itself when all processes have ended.
  const ended = once(tracer, 'close')
  return {
    /** Detaches from the processes that still run; returns the observed output. */
    async detach(): Promise<string> {
      tracer.kill('SIGTERM')
      await ended
      return output
    },
  }
}
