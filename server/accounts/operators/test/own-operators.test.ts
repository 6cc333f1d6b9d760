import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { permissionsOf } from '@countersign/protocol/formats/registries/permissions'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { makeOperator, suspend } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const url = '/api/account/operators'

test('CON-03 users learn their own roles alone, and none of a suspended identity', async () => {
  const [owner, auditor, user] = [await world.person(), await world.person(), await world.person()]
  await makeOperator(world, owner, 'owner')
  await makeOperator(world, auditor, 'auditor')
  const own = async ({ headers }: typeof user) => (await world.api.inject({ url, headers })).json().operators
  const { identityId, handle } = auditor
  assert.deepEqual(await own(auditor), [
    { identityId, handle, displayName: `The ${handle}`, role: 'auditor', permissions: permissionsOf('auditor') },
  ])
  assert.deepEqual(await own(user), [])

  const second = await world.api.inject({
    method: 'POST',
    url: '/api/identities',
    headers: auditor.headers,
    payload: { handle: `${handle}-2`, displayName: 'Another' },
  })
  assert.equal(second.statusCode, 201, second.body)
  await suspend(world, auditor, { scope: 'identity' })
  assert.deepEqual(await own(auditor), [])
})

test('CON-03 without a passkey session, no one learns of roles', async () => {
  assert.equal((await world.api.inject({ url })).statusCode, 401)
  const headers = await signInByOrganization(world, await world.person())
  const answer = await world.api.inject({ url, headers })
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'passkey_required'])
})
