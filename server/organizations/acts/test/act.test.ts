import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { actorOf } from '#testing/actor.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]

async function organized() {
  const owner = await createSigner(world)
  const { id } = await createOrganization(world, owner)
  return { owner, id, actor: actorOf(world, owner) }
}

test('ACT-50 an act is done once by its signature and a passkey use, and its entry is in the trail', async () => {
  const { owner, id, actor } = await organized()
  const started = await actor.start(`PATCH /organizations/${id}`, { name: 'Acme AG' })
  assert.deepEqual(started.details, { organizationId: id, name: 'Acme AG', from: { name: 'Acme' } })
  const done = await actor.do(started)
  assert.equal(done.statusCode, 200, done.body)
  assert.deepEqual([done.json().action, done.json().result.organization.name], ['organization.updated', 'Acme AG'])
  assert.deepEqual(errorOf(await actor.do(started)), [404, 'act_not_found'])
  const { body } = await businessRequest(world, owner, `GET /organizations/${id}/trail`)
  const records = body
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(records.at(-1).details, started.details)
  assert.deepEqual(
    records.map(({ acts }) => acts.length),
    [0, 1],
  )
})
