import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, type Service } from '../server/testing/service.ts'
import { timed } from './harness/stalls.ts'
import type { TestUser } from './load/test-user.ts'
import { beginLoad, findLostUpdates, findResurrectedTokens } from './load/load.ts'
import { rounds } from './load/throughput.ts'

const bootMillisecondsMax = 5000
/** Factor by which a start may be slower than usual on a busy machine. */
const slowdownMax = 3

test(`STO-01 REF-07 COD-21 after kill -9 under load (${rounds} times) everything acknowledged is kept`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  await service.end()
  const ordinary = await boot(service)
  const boots: number[] = []
  const everybody: TestUser[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const { customers, stop } = await beginLoad(service)
    await wait(300 + Math.random() * 1500)
    service.process.kill('SIGKILL')
    await stop()
    await service.end('SIGKILL')

    boots.push(await boot(service))
    for (const customer of customers)
      assert.deepEqual(await findLostUpdates(customer), [], `round ${round}\n${customer.history.join('\n')}`)
    everybody.push(...customers)
  }
  for (const customer of everybody)
    assert.deepEqual(await findResurrectedTokens(customer), [], customer.history.join('\n'))

  const sum = (outcome: 'ok' | 'fail' | 'unknown') => everybody.reduce((count, each) => count + each.counts[outcome], 0)
  const median = boots.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
  t.diagnostic(
    `${rounds} kills; operations: ${sum('ok')} ok, ${sum('fail')} rejected, ${sum('unknown')} without a response`,
  )
  t.diagnostic(`start after a kill: ${boots.join(', ')} ms; after a shutdown: ${ordinary} ms`)
  assert.ok(median < Math.max(bootMillisecondsMax, slowdownMax * ordinary), `a start takes ${median} ms`)
})

/** Returns the milliseconds until it is ready again, without stalls. */
async function boot(service: Service): Promise<number> {
  return Math.round((await timed(service.restart)).milliseconds)
}
