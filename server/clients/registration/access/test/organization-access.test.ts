import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { businessRequest, createOrganization, join, reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const admin = (method: 'GET' | 'POST' | 'PATCH', path: string, payload?: object) =>
  world.api.inject({ method, url: `/api/admin/${path}`, headers: world.admin, ...(payload && { payload }) })

function authorize({ clientId, redirectUri }: TestApp, { headers, identityId }: Person) {
  const payload = { clientId, redirectUri, identityId, scope: 'openid profile' }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
}

const refusalOf = (answer: { statusCode: number; json: () => { error: string } }) => [
  answer.statusCode,
  answer.json().error,
]

/** An app that only the members of an organization may use, one of them, and its owner. */
async function restricted() {
  const [owner, member] = [await world.person(), await world.person()]
  const organization = await createOrganization(world, owner)
  const { id: organizationId, slug } = organization
  const membership = await join(world, { id: organizationId, owner, role: 'viewer' }, member)
  const app = await world.app()
  const access = { mode: 'restricted', organizations: [slug], contact: 'it@example.com' }
  const changed = await admin('PATCH', `apps/${app.clientId}`, { access })
  assert.equal(changed.statusCode, 200, changed.body)
  const ask = (what: `DELETE ${string}` | `PATCH ${string}`, payload?: object) =>
    businessRequest(world, owner, what, payload)
  const remove = () => ask(`DELETE /organizations/${organizationId}/members/${membership.memberId}`)
  return { owner, member, organizationId, slug, app, ask, remove }
}

const accessOf = async ({ clientId }: TestApp) => (await admin('GET', `apps/${clientId}`)).json().access

test('an app names organizations by slug, and keeps those that change it', async () => {
  const { app, slug, ask, organizationId } = await restricted()
  const shown = { mode: 'restricted', groups: [], organizations: [slug], contact: 'it@example.com' }
  assert.deepEqual(await accessOf(app), shown)
  await admin('PATCH', `apps/${app.clientId}`, { access: { contact: 'it@example.com' }, name: 'Renamed' })
  assert.deepEqual(await accessOf(app), shown)
  const renamed = await ask(`PATCH /organizations/${organizationId}`, { slug: `${slug}-new` })
  assert.equal(renamed.statusCode, 200, renamed.body)
  assert.deepEqual((await accessOf(app)).organizations, [`${slug}-new`])
  const name = (organizations: string[]) => admin('PATCH', `apps/${app.clientId}`, { access: { organizations } })
  assert.deepEqual(refusalOf(await name([slug])), [404, 'organization_not_found'])
  assert.deepEqual(refusalOf(await name([`${slug}-new`, 'no-such-one'])), [404, 'organization_not_found'])
  assert.equal((await name([])).statusCode, 200)
  assert.deepEqual((await accessOf(app)).organizations, [])
})

test('ACC-10 only members of an organization may use its app, and strangers learn only the contact', async () => {
  const { app, member, owner, slug } = await restricted()
  for (const person of [member, owner]) assert.equal((await authorize(app, person)).statusCode, 200)
  const stranger = await world.person()
  await createOrganization(world, stranger)
  const refused = await authorize(app, stranger)
  assert.deepEqual(refusalOf(refused), [403, 'app_access_denied'])
  assert.equal(refused.json().contact, 'it@example.com')
  assert.ok(!refused.body.includes(slug))
})

test('ACC-10 a removed member gets no token by a refresh', async () => {
  const { app, member, remove } = await restricted()
  const { refresh_token: refreshToken } = await app.tokens(member)
  assert.equal((await remove()).statusCode, 204)
  assert.deepEqual(refusalOf(await app.refresh(refreshToken)), [400, 'invalid_grant'])
  assert.deepEqual(refusalOf(await authorize(app, member)), [403, 'app_access_denied'])
})

test('ACC-10 members of a suspended or deleted organization have no access', async () => {
  const { app, owner, member, organizationId, slug, ask } = await restricted()
  const suspend = (status: 'suspended' | 'active') => admin('PATCH', `organizations/${organizationId}`, { status })
  assert.equal((await suspend('suspended')).statusCode, 200)
  assert.deepEqual(refusalOf(await authorize(app, member)), [403, 'app_access_denied'])
  await suspend('active')
  assert.equal((await authorize(app, member)).statusCode, 200)
  await reauthenticate(world, owner)
  const deleted = await ask(`DELETE /organizations/${organizationId}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.deepEqual(refusalOf(await authorize(app, member)), [403, 'app_access_denied'])
  assert.deepEqual(await accessOf(app), {
    ...{ mode: 'restricted', groups: [], organizations: [], contact: 'it@example.com' },
  })

  // Its owner may name another organization like it, which is another one.
  const again = await createOrganization(world, owner)
  await businessRequest(world, owner, `PATCH /organizations/${again.id}`, { slug })
  assert.deepEqual(refusalOf(await authorize(app, owner)), [403, 'app_access_denied'])
})
