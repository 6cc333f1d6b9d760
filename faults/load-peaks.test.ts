import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startWithUsers } from './load/test-user.ts'
import { exchange } from './load/exchange.ts'
import { beginFlood, countStatuses, type FloodRequest } from './load/flood.ts'
import { describeThroughput, measureThroughput } from './load/throughput.ts'

const json = { 'content-type': 'application/json' }

const peak = 40
const seconds = 4

test(`LOD-04 each of ${20 * peak} concurrent callers is served or asked to retry later`, async (t) => {
  const { service, customers } = await startWithUsers(t, 8, { RATE_LIMITS: 'off' })
  const signIn = (): FloodRequest => ({
    url: `${service.baseUrl}/api/auth/login/start`,
    method: 'POST',
    headers: json,
    body: '{}',
  })
  const before = await measureThroughput(customers, 2000)
  const ordinary = beginFlood(peak, signIn)
  await wait(2000)
  const atPeak = (await ordinary.stop()).length / 2

  const burst = beginFlood(20 * peak, signIn)
  await wait(1000)
  assert.equal((await exchange(`${service.baseUrl}/healthz`))?.status, 200)
  await wait((seconds - 1) * 1000)
  const answers = await burst.stop()
  const endedAt = performance.now()
  const served = answers.filter(({ status }) => status === 200)
  const shed = answers.filter(({ status }) => status === 503)
  assert.equal(served.length + shed.length, answers.length, countStatuses(answers))
  for (const { retryAfter } of shed) assert.match(retryAfter ?? '', /^\d+$/)
  assert.ok(shed.length > 0)
  const after = await measureThroughput(customers, 2000)

  const rate = (of: unknown[]) => Math.round(of.length / seconds)
  t.diagnostic(`peak: ${Math.round(atPeak)}/s; burst: ${rate(served)} served and ${rate(shed)} shed per second`)
  t.diagnostic(`slowest of the burst ${Math.round(Math.max(...served.map(({ milliseconds }) => milliseconds)))} ms`)
  t.diagnostic(`before: ${describeThroughput(before)}`)
  t.diagnostic(`after: ${describeThroughput(after)}`)
  assert.ok(performance.now() - endedAt < 10_000)
  assert.ok(rate(served) > atPeak / 10, 'most of the possible work was done')
  assert.ok(after.medianMilliseconds < Math.max(2 * before.medianMilliseconds, 50))
})
