import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../server/testing/service.ts'
import type { Customer } from './customer.ts'
import { beginLoad, findForgotten, findRisen } from './load.ts'
import { rounds } from './length.ts'

const bootMillisecondsMax = 5000

test(`STO-01 REF-07 COD-21 after kill -9 under load (${rounds} times) all that was acknowledged is so`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const boots: number[] = []
  const everybody: Customer[] = []
  for (let round = 1; round <= rounds; round += 1) {
    const { customers, stop } = await beginLoad(service)
    await wait(300 + Math.random() * 1500)
    service.process.kill('SIGKILL')
    await stop()
    await service.end('SIGKILL')

    const startedAt = performance.now()
    await service.restart()
    boots.push(performance.now() - startedAt)
    for (const customer of customers)
      assert.deepEqual(await findForgotten(customer), [], `round ${round}\n${customer.history.join('\n')}`)
    everybody.push(...customers)
  }
  for (const customer of everybody) assert.deepEqual(await findRisen(customer), [], customer.history.join('\n'))

  const sum = (outcome: 'ok' | 'fail' | 'unknown') => everybody.reduce((count, each) => count + each.counts[outcome], 0)
  const slowest = Math.max(...boots)
  t.diagnostic(`${rounds} kills; acts: ${sum('ok')} ok, ${sum('fail')} refused, ${sum('unknown')} without an answer`)
  t.diagnostic(`boot after a kill: ${boots.map((boot) => Math.round(boot)).join(', ')} ms`)
  assert.ok(slowest < bootMillisecondsMax, `a boot took ${Math.round(slowest)} ms`)
})
