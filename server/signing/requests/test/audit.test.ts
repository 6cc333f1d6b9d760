import assert from 'node:assert/strict'
import { test } from 'node:test'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

type Entry = { action: string }

async function readTrails(world: TestWorld, person: Awaited<ReturnType<typeof createSigner>>, organizationId: string) {
  const { headers } = person
  const own = await world.api.inject({ url: '/api/account/activity', headers })
  const ofOrganization = await businessRequest(world, person, `GET /organizations/${organizationId}/audit`)
  const requested = ({ entries }: { entries: Entry[] }) =>
    entries.filter(({ action }) => action === 'signing.requested' || action === 'signing.organization.requested')
  return { own: requested(own.json()), ofOrganization: requested(ofOrganization.json()) }
}

test('GRW-38 unconnected apps can send few requests to a signer and do not fill the audit log', async (t) => {
  const environment = { RATE_LIMIT_NUMBERS: 'signing-requests-of-unconnected-apps-per-signer=60' }
  const world = await createWorld({ rateLimits: true, environment })
  t.after(() => world.close())
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const apps = await Promise.all(Array.from({ length: 8 }, async () => signingRequesterOf(world, await world.app())))
  let [opened, ofOrganization] = [0, 0]
  for (let minute = 0; minute < 40; minute += 1) {
    for (const app of apps) {
      if ((await app.request(ada.identityId, { expiresInSeconds: 60 })).statusCode === 201) opened += 1
      if ((await app.requestOf(id, { expiresInSeconds: 60 })).statusCode === 201) ofOrganization += 1
    }
    world.pass(61)
  }
  assert.deepEqual([opened, ofOrganization], [60, 60], 'of all of them together in an hour')
  const alone = signingRequesterOf(world, await world.app())
  const refused = await alone.request(ada.identityId)
  assert.deepEqual([refused.statusCode, refused.json().error], [429, 'rate_limited'])

  const trails = await readTrails(world, ada, id)
  assert.equal(trails.own.length, 3, JSON.stringify(trails.own))
  assert.equal(trails.ofOrganization.length, 3)

  // They do not block a connected app.
  const known = await world.app()
  await known.tokens(ada)
  assert.equal((await signingRequesterOf(world, known).request(ada.identityId)).statusCode, 201)
  assert.equal((await readTrails(world, ada, id)).own.length, 4)

  world.pass(3600)
  assert.equal((await alone.request(ada.identityId)).statusCode, 201)
  assert.equal((await readTrails(world, ada, id)).own.length, 5)
})

test('GRW-38 one unconnected app can send a signer twenty requests an hour', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const ada = await createSigner(world)
  const [shop, other] = [signingRequesterOf(world, await world.app()), signingRequesterOf(world, await world.app())]
  let opened = 0
  for (let minute = 0; minute < 30; minute += 1) {
    if ((await shop.request(ada.identityId, { expiresInSeconds: 60 })).statusCode === 201) opened += 1
    world.pass(61)
  }
  assert.equal(opened, 20)
  assert.equal((await other.request(ada.identityId)).statusCode, 201)
})

test('GRW-39 requests of a connected app add one audit event an hour, and every answer is recorded', async (t) => {
  const world = await createWorld()
  t.after(() => world.close())
  const ada = await createSigner(world)
  const { id } = await createOrganization(world, ada)
  const app = await world.app()
  await app.tokens(ada)
  await app.tokens(ada, { organizationId: id })
  const shop = signingRequesterOf(world, app)
  let denied = 0
  const ask = async () => {
    const { requestId } = (await shop.request(ada.identityId)).json()
    assert.equal((await ada.deny(requestId)).statusCode, 200)
    denied += 1
    assert.equal((await ada.deny((await shop.requestOf(id)).json().requestId)).statusCode, 200)
    world.pass(60)
  }
  for (let minute = 0; minute < 10; minute += 1) await ask()
  const lengths = async () => Object.values(await readTrails(world, ada, id)).map(({ length }) => length)
  assert.deepEqual(await lengths(), [1, 1])
  world.pass(3000)
  await ask()
  assert.deepEqual(await lengths(), [2, 2])
  const { entries } = (await world.api.inject({ url: '/api/account/activity', headers: ada.headers })).json()
  const answers = entries.filter(({ action }: Entry) => action === 'signing.denied')
  assert.equal(answers.length, denied)
})
