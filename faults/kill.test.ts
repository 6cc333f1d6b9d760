import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, type Service } from '../server/testing/service.ts'
import type { Customer } from './load/customer.ts'
import { beginLoad, findForgotten, findRisen } from './load/load.ts'
import { rounds } from './load/length.ts'

const bootMillisecondsMax = 5000
/** On a machine that is busy with other things, so many times what an ordinary boot takes. */
const slowdownMax = 3

test(`STO-01 REF-07 COD-21 after kill -9 under load (${rounds} times) all that was acknowledged is so`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  await service.end()
  const ordinary = await boot(service)
  const boots: number[] = []
  const everybody: Customer[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const { customers, stop } = await beginLoad(service)
    await wait(300 + Math.random() * 1500)
    service.process.kill('SIGKILL')
    await stop()
    await service.end('SIGKILL')

    boots.push(await boot(service))
    for (const customer of customers)
      assert.deepEqual(await findForgotten(customer), [], `round ${round}\n${customer.history.join('\n')}`)
    everybody.push(...customers)
  }
  for (const customer of everybody) assert.deepEqual(await findRisen(customer), [], customer.history.join('\n'))

  const sum = (outcome: 'ok' | 'fail' | 'unknown') => everybody.reduce((count, each) => count + each.counts[outcome], 0)
  const median = boots.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
  t.diagnostic(`${rounds} kills; acts: ${sum('ok')} ok, ${sum('fail')} refused, ${sum('unknown')} without an answer`)
  t.diagnostic(`boot after a kill: ${boots.join(', ')} ms; after an ordinary end: ${ordinary} ms`)
  assert.ok(median < Math.max(bootMillisecondsMax, slowdownMax * ordinary), `a boot takes ${median} ms`)
})

/** How many milliseconds it takes to be ready again. */
async function boot(service: Service): Promise<number> {
  const startedAt = performance.now()
  await service.restart()
  return Math.round(performance.now() - startedAt)
}
