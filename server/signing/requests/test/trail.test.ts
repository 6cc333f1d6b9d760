import assert from 'node:assert/strict'
import { test } from 'node:test'
import { askBusiness, makeOrganization } from '#testing/organization.ts'
import { askerOf, createSigner } from '#testing/signer.ts'
import { createWorld, type World } from '#testing/world.ts'

type Entry = { action: string }

async function readTrails(world: World, person: Awaited<ReturnType<typeof createSigner>>, organizationId: string) {
  const { headers } = person
  const own = await world.api.inject({ url: '/api/account/activity', headers })
  const ofOrganization = await askBusiness(world, person, `GET /organizations/${organizationId}/audit`)
  const asked = ({ entries }: { entries: Entry[] }) =>
    entries.filter(({ action }) => action === 'signing.requested' || action === 'organization.signing.requested')
  return { own: asked(own.json()), ofOrganization: asked(ofOrganization.json()) }
}

test('GRW-38 apps that nobody has let in ask a signer rarely, and fill no trail', async (t) => {
  const environment = { RATE_LIMIT_NUMBERS: 'signing-request-of-unconnected-apps-to-one-signer=60' }
  const world = await createWorld({ rateLimits: true, environment })
  t.after(() => world.close())
  const ada = await createSigner(world)
  const { id } = await makeOrganization(world, ada)
  const apps = await Promise.all(Array.from({ length: 8 }, async () => askerOf(world, await world.app())))
  let [opened, ofOrganization] = [0, 0]
  for (let minute = 0; minute < 40; minute += 1) {
    for (const app of apps) {
      if ((await app.request(ada.identityId, { expiresInSeconds: 60 })).statusCode === 201) opened += 1
      if ((await app.requestOf(id, { expiresInSeconds: 60 })).statusCode === 201) ofOrganization += 1
    }
    world.pass(61)
  }
  assert.deepEqual([opened, ofOrganization], [60, 60], 'of all of them together in an hour')
  const alone = askerOf(world, await world.app())
  const refused = await alone.request(ada.identityId)
  assert.deepEqual([refused.statusCode, refused.json().error], [429, 'rate_limited'])

  const trails = await readTrails(world, ada, id)
  assert.equal(trails.own.length, 3, JSON.stringify(trails.own))
  assert.equal(trails.ofOrganization.length, 3)

  // An app that has been let in is not kept out by them.
  const known = await world.app()
  await known.tokens(ada)
  assert.equal((await askerOf(world, known).request(ada.identityId)).statusCode, 201)
  assert.equal((await readTrails(world, ada, id)).own.length, 4)

  world.pass(3600)
  assert.equal((await alone.request(ada.identityId)).statusCode, 201)
  assert.equal((await readTrails(world, ada, id)).own.length, 5)
})

test('GRW-38 one app that nobody has let in asks a signer twenty times an hour', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const ada = await createSigner(world)
  const [shop, other] = [askerOf(world, await world.app()), askerOf(world, await world.app())]
  let opened = 0
  for (let minute = 0; minute < 30; minute += 1) {
    if ((await shop.request(ada.identityId, { expiresInSeconds: 60 })).statusCode === 201) opened += 1
    world.pass(61)
  }
  assert.equal(opened, 20)
  assert.equal((await other.request(ada.identityId)).statusCode, 201)
})

test('GRW-39 an app that has been let in adds one entry an hour by asking, and every answer is recorded', async (t) => {
  const world = await createWorld()
  t.after(() => world.close())
  const ada = await createSigner(world)
  const { id } = await makeOrganization(world, ada)
  const app = await world.app()
  await app.tokens(ada)
  await app.tokens(ada, { organizationId: id })
  const shop = askerOf(world, app)
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
