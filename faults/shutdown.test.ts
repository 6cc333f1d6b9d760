import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService } from '../server/testing/service.ts'
import { exchange } from './load/exchange.ts'
import { beginLoad, findLostUpdates } from './load/load.ts'
import { timed } from './harness/stalls.ts'

const inFlight = 200

test(`STO-20 SIGTERM with ${inFlight} requests in flight answers or rejects each, and ends cleanly`, async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const load = await beginLoad(service)
  await wait(500)
  const session = { authorization: `Bearer ${load.customers[0]?.sessions[0]}` }
  const pending = Array.from({ length: inFlight }, () =>
    exchange(`${service.baseUrl}/api/oauth/authorizations`, { headers: session }),
  )
  await exchange(`${service.baseUrl}/healthz`)
  const ended = timed(() => service.end('SIGTERM'))
  const stopped = load.stop()
  const replies = await Promise.all(pending)
  const { result: exitCode, milliseconds } = await ended
  assert.equal(exitCode, 0)
  await stopped
  assert.ok(milliseconds < 10_000, `the shutdown took ${milliseconds} ms`)
  const answered = replies.filter((reply) => reply !== undefined)
  for (const { status } of answered) assert.equal(status, 200)
  t.diagnostic(`${answered.length} of ${inFlight} answered; ended after ${Math.round(milliseconds)} ms`)

  await service.restart()
  for (const customer of load.customers)
    assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
})
