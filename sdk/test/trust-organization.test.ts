import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { createCountersign, createMemoryTrustStore, type TrustStore } from '../src/server/server.ts'
import { addLeaf, checkpointOf, createLog, newKeyPair } from '../../server/testing/lying-log.ts'
import { later, openLyingService } from '../../server/testing/lying-service.ts'

/** An app that trusts the log of a service, which has an organization. */
async function begin(t: TestContext, store: TrustStore = createMemoryTrustStore()) {
  const log = createLog()
  const grow = () => addLeaf(log, randomUUID(), newKeyPair(), { event: 'created' })
  for (let nth = 0; nth < 5; nth += 1) grow()
  const organizationId = randomUUID()
  const service = await openLyingService(t, log, () => '')
  const organization = { id: organizationId, name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 0 }
  service.answers.opened = () => ({
    status: 201,
    body: { requestId: randomUUID(), expiresAt: later(), organization },
  })
  const app = createCountersign({ ...service.settings, trust: { log: log.trusted, store } })
  const ask = () => app.createOrganizationRequest({ organizationId, payload: 'Pay' })
  const refuses = async (code: string) => {
    const before = service.sent.length
    await assert.rejects(ask(), { name: 'CountersignError', code })
    assert.equal(service.sent.length, before, 'the request was sent')
  }
  return { log, grow, service, ask, refuses }
}

test('TRU-32 a request to an organization is sent only if the log continues what was seen', async (t) => {
  const { log, grow, service, ask, refuses } = await begin(t)
  await ask()
  grow()
  await ask()
  assert.equal(service.sent.length, 2)
  service.answers.checkpoint = () => ({ body: checkpointOf(log, 4) })
  await refuses('log_rolled_back')
  const other = createLog(log.origin)
  other.leaves.push(...log.leaves)
  service.answers.checkpoint = () => ({ body: checkpointOf(other) })
  await refuses('unknown_log')
  service.answers.checkpoint = service.honest.checkpoint
  log.leaves.shift()
  grow()
  await refuses('log_forked')
})

test('TRU-32 TRU-15 with a store that fails, no request to an organization is sent', async (t) => {
  const read = () => Promise.reject(new Error('the disk is full'))
  const { refuses } = await begin(t, { ...createMemoryTrustStore(), read })
  await refuses('trust_store_failed')
})
