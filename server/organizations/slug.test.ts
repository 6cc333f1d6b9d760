import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import { askBusiness, makeOrganization } from '#testing/organization.ts'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

test('ORG-32 a slug that an organization gave up, or had at its deletion, is nobody else’s for 90 days', async () => {
  const owner = await world.person()
  const freshly = async (method: 'PATCH' | 'DELETE', id: string, payload?: object) => {
    const headers = await owner.signIn()
    return (await askBusiness(world, { headers }, `${method} /organizations/${id}`, payload)).statusCode
  }
  const [made, other] = [await makeOrganization(world, owner, 'Bank'), await makeOrganization(world, owner, 'Other')]
  const slug = 'bank'
  const elsewhere = () => `bank-${randomBytes(4).toString('hex')}`
  assert.equal(await freshly('PATCH', made.id, { slug: elsewhere() }), 200)
  assert.equal(await freshly('PATCH', other.id, { slug }), 409)
  assert.equal(await freshly('PATCH', made.id, { slug }), 200, 'its own it takes back')
  assert.equal(await freshly('PATCH', made.id, { slug: elsewhere() }), 200)
  world.pass(90 * 24 * 3600 - 1)
  assert.equal(await freshly('PATCH', other.id, { slug }), 409)
  world.pass(1)
  assert.equal(await freshly('PATCH', other.id, { slug }), 200)
  assert.equal(await freshly('DELETE', other.id), 204)
  assert.equal(await freshly('PATCH', made.id, { slug }), 409)
})
