import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { actorOf } from '#testing/actor.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

async function limitedWorld(t: TestContext, numbers: string): Promise<TestWorld> {
  const world = await createWorld({ rateLimits: true, environment: { RATE_LIMIT_NUMBERS: numbers } })
  t.after(() => world.close())
  return world
}

test('GRW-63 asking what to sign uses up no invitations, and is limited like other changes', async (t) => {
  // One session has half of each number, and a tenth more because its passkey was just used.
  const world = await limitedWorld(t, 'invitations-per-user=10,changes-per-user=100')
  const [owner, bob] = [await createSigner(world), await world.person()]
  const { id } = await createOrganization(world, owner)
  const actor = actorOf(world, owner)
  const path = `POST /organizations/${id}/invitations` as const
  const invitation = { handle: bob.handle, role: 'member' }
  const ask = () => businessRequest(world, owner, path, { ...invitation, signedAction: {} })
  for (let nth = 0; nth < 8; nth += 1) assert.equal((await ask()).json().error, 'signed_action_required')
  await actor.act(`PATCH /organizations/${id}`, { requireSignedActions: true })
  for (let nth = 0; nth < 8; nth += 1) {
    const started = await businessRequest(world, owner, path, invitation)
    assert.equal(started.json().error, 'signed_action_required')
  }
  const statuses: number[] = []
  for (let nth = 0; nth < 7; nth += 1) statuses.push((await actor.act(path, invitation)).statusCode)
  assert.deepEqual(statuses, [200, 200, 200, 200, 200, 200, 429])
  let attempts = 0
  for (; (await ask()).statusCode !== 429; attempts += 1) assert.ok(attempts < 60, 'nothing limits the question')
  assert.ok(attempts > 10)
})

test('GRW-63 an owner who asks what a reset needs can still request it', async (t) => {
  const world = await limitedWorld(t, 'council-notices-per-user=10')
  const { id, owner, council } = await createSignatories(world, 1, 'signer')
  const path = `POST /organizations/${id}/council/reset` as const
  for (let nth = 0; nth < 8; nth += 1)
    assert.equal((await businessRequest(world, owner, path)).json().error, 'signed_action_required')
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
})
