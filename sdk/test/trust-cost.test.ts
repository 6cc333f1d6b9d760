import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { createCountersign, createMemoryTrustStore } from '../src/server/server.ts'
import { addLeaf, createLog, newKeyPair } from '../../server/testing/lying-log.ts'
import { openLyingService, pageOf } from '../../server/testing/lying-service.ts'

test('TRU-31 a long checkpoint costs an app once for each page, not for each leaf', async (t) => {
  const log = createLog()
  const identityId = randomUUID()
  const keys = Array.from({ length: 60 }, newKeyPair)
  const service = await openLyingService(t, log, () => keys[log.leaves.length - 1]?.publicKey ?? '')
  const grow = (size: number) => {
    for (const [nth, key] of keys.slice(0, size).entries()) {
      const linkedBy = keys[nth - 1]
      if (nth >= log.leaves.length)
        addLeaf(log, identityId, key, linkedBy ? { event: 'rotated', linkedBy } : { event: 'created' })
    }
    const page = pageOf(log, identityId)
    const signatures = `— other ${Buffer.alloc(68).toString('base64')}\n`.repeat(9000)
    service.answers.identity = () => ({ body: { ...page, checkpoint: `${page.checkpoint}${signatures}` } })
  }
  const costOf = async () => {
    const before = process.cpuUsage()
    const trust = { log: log.trusted, store: createMemoryTrustStore() }
    await createCountersign({ ...service.settings, trust }).createSigningRequest({ identityId, payload: 'Pay' })
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  grow(1)
  await costOf()
  const ofOne = Math.min(await costOf(), await costOf())
  grow(keys.length)
  const ofAll = Math.min(await costOf(), await costOf())
  assert.ok(ofAll < 8 * ofOne, `${ofAll} and ${ofOne} microseconds`)
})
