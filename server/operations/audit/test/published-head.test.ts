import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { advanceAuditHeads, readAuditHead } from '@countersign/protocol/formats/audit/audit-head'
import { parseVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { containsLeaf, verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import type { ResponseOf } from '@countersign/protocol/api'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { publishAuditHead } from '#operations/audit/published-head.ts'
import { findChainHead, numberEvents } from '#platform/audit/chain.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const { sha256 } = nodeSuite
const day = 24 * 3600

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const publish = async () => {
  await numberEvents(world.db)
  await publishAuditHead(world.db, world.now())
}
const listed = async (start = 0) => {
  const answer = await world.api.inject(`/api/transparency/audit?start=${start}`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json<ResponseOf<'GET /api/transparency/audit'>>()
}
const places = async () => (await listed()).heads.map(({ leaf }) => readAuditHead(sha256, leaf)?.sequence)
const lastPlace = async () => {
  const head = await findChainHead(world.db)
  assert.ok(head)
  return { ...head, hash: Buffer.from(head.hash).toString('base64') }
}

test('AUD-08 the head of the audit log is published once a day, and only if there are new events', async () => {
  await world.person()
  await publish()
  assert.deepEqual(await places(), [], 'before the first day has passed')
  world.pass(day)
  await Promise.all([publish(), publish(), publish()])
  const head = await lastPlace()
  assert.deepEqual(await places(), [head.sequence])
  await world.person()
  await publish()
  assert.equal((await places()).length, 1, 'on the same day')
  world.pass(day)
  await publish()
  assert.deepEqual(await places(), [head.sequence, (await lastPlace()).sequence])
  world.pass(day)
  await publish()
  assert.equal((await places()).length, 2, 'without new events')
})

test('AUD-08 published heads are in the signed log, and each continues the one before', async () => {
  await createSigner(world)
  await world.person()
  world.pass(day)
  await publish()
  const { verifierKey } = (await world.api.inject('/api/transparency/jwks')).json()
  const key = parseVerifierKey(sha256, verifierKey)
  const { checkpoint: note, heads, nextStart } = await listed()
  const checkpoint = key && verifyCheckpoint(nodeSuite, note, key)
  assert.ok(checkpoint)
  let last: Parameters<typeof advanceAuditHeads>[1]
  for (const logged of heads) {
    assert.ok(containsLeaf(sha256, checkpoint, logged))
    const next = advanceAuditHeads(sha256, last, logged.leaf)
    assert.ok(typeof next !== 'string', logged.leaf)
    last = next
  }
  const { sequence, hash } = await lastPlace()
  assert.deepEqual([last?.sequence, last?.head, nextStart], [sequence, hash, null])
  const { heads: later } = await listed(1)
  assert.deepEqual(later, heads.slice(1))
})
