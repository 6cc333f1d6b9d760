import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createCountersign, createMemoryTrustStore, type TrustSettings } from '../src/server/server.ts'
import { addLeaf, createLog, newKeyPair } from '../../server/testing/lying-log.ts'
import { openLyingService } from '../../server/testing/lying-service.ts'

const payload = 'Pay 10 € to Bob'

/** An identity with one key in the log of a service that tells the truth so far, and an app that trusts the log. */
export async function begin(t: TestContext, trust: Partial<TrustSettings> = {}) {
  const log = createLog()
  const [identityId, ada] = [randomUUID(), newKeyPair()]
  addLeaf(log, randomUUID(), newKeyPair(), { event: 'created' })
  addLeaf(log, identityId, ada, { event: 'created' })
  let named = ada
  const service = await openLyingService(t, log, () => named.publicKey)
  const store = trust.store ?? createMemoryTrustStore()
  const restart = (changes: Partial<TrustSettings> = {}) =>
    createCountersign({ ...service.settings, trust: { log: log.trusted, store, ...trust, ...changes } })
  const app = restart()
  const ask = (by = app) => by.createSigningRequest({ identityId, payload })
  return {
    ...{ log, identityId, ada, service, store, app, restart, ask },
    name: (pair: typeof ada) => {
      named = pair
    },
    /** Expects an error before a request exists. */
    async refuses(code: string, by = app) {
      const before = service.sent.length
      await assert.rejects(ask(by), { name: 'CountersignError', code })
      assert.equal(service.sent.length, before, 'the request was sent')
    },
  }
}
