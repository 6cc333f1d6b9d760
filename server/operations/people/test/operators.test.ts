import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asPage, createToken, makeOperator } from '#testing/operators.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('PEO-33 each operator who looks is recorded, and only operators read which one', async () => {
  const seen = await world.person()
  const admin = await makeOperator(world, await world.person(), 'people')
  const [one, other] = [await createToken(world, ['people.read']), await createToken(world, ['people.read'])]
  const url = `/api/admin/identities/${seen.identityId}`
  for (const headers of [world.admin, one.headers, other.headers, admin.page])
    for (const { statusCode } of await Promise.all([1, 2].map(() => world.api.inject({ url, headers }))))
      assert.equal(statusCode, 200)
  const log = await world.api.inject({ url: '/api/admin/audit?limit=100', headers: world.admin })
  const { entries } = log.json<{ entries: { action: string; identityId: string; actor: { id: string } }[] }>()
  const views = entries.filter(
    ({ action, identityId }) => action === 'identity.viewed' && identityId === seen.identityId,
  )
  assert.deepEqual(views.map(({ actor }) => actor.id).toReversed(), [
    null,
    one.tokenId,
    other.tokenId,
    admin.identityId,
  ])
  const activity = await world.api.inject({ url: '/api/account/activity', headers: seen.headers })
  assert.equal(activity.statusCode, 200)
  for (const id of [one.tokenId, other.tokenId, admin.identityId]) assert.ok(!activity.body.includes(id))
})

test('PEO-34 a list names the operator, and is not an event of the identity as which they act', async () => {
  const admin = await makeOperator(world, await world.person(), 'people')
  const headers = asPage(world, admin.sessionToken)
  assert.equal((await world.api.inject({ url: '/api/admin/identities?q=olga', headers })).statusCode, 200)
  const log = await world.api.inject({ url: '/api/admin/audit?limit=1', headers: world.admin })
  const [{ action, actor, identityId }] = log.json().entries
  assert.deepEqual(
    [action, actor],
    ['identities.listed', { kind: 'operator', id: admin.identityId, name: admin.handle }],
  )
  assert.equal(identityId, null)
})

test('PEO-34 the pages of one operator do not use up those of another', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const [one, other] = [await createToken(limited, ['people.read']), await createToken(limited, ['people.read'])]
  const list = async (headers: Record<string, string>) =>
    (await limited.api.inject({ url: '/api/admin/identities', headers })).statusCode
  for (let nth = 0; nth < 120; nth += 1) assert.equal(await list(one.headers), 200)
  assert.equal(await list(one.headers), 429)
  for (const headers of [other.headers, limited.admin]) assert.equal(await list(headers), 200)
})
