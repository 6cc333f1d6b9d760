import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Organization } from '@countersign/protocol/organizations/organizations'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let person: Person
let app: TestApp
let token: string
before(async () => {
  world = await createWorld()
  person = await world.person()
  app = await world.app()
  token = (await app.tokens(person)).access_token
})
after(() => world.close())

const agreed = { userConfirmedServiceWorkspaceCreation: true }
const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

const create = (payload: object, headers: Record<string, string> = bearer(token)) =>
  world.api.inject({ method: 'POST', url: '/api/oauth/workspaces', headers, payload })

const list = (query = '', headers: Record<string, string> = bearer(token)) =>
  world.api.inject({ url: `/api/oauth/organizations${query}`, headers })

async function listed(accessToken: string): Promise<Organization[]> {
  return (await list('', bearer(accessToken))).json().organizations
}

test('an app creates a workspace for the signed-in user, and finds it in their list', async () => {
  const answer = await create({ name: 'Acme Inc.', client_id: app.clientId, clientId: app.clientId, ...agreed })
  assert.equal(answer.statusCode, 201, answer.body)
  const { organization } = answer.json()
  assert.deepEqual(organization, {
    id: organization.id,
    name: 'Acme Inc.',
    slug: 'acme-inc',
    logoUrl: null,
    role: 'owner',
    scopes: ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso', 'manage_org'],
    signingAuthority: true,
    ssoRequired: false,
    encryptionMode: 'standard',
    keyCustody: 'svc_standard',
  })
  assert.deepEqual(await listed(token), [organization])
  const { access_token_jwt: jwt } = await app.tokens(person)
  assert.deepEqual(await listed(jwt), [organization])
})

test('ORG-03 an app sees only the organizations of the identity that signed in', async () => {
  const other = await app.tokens(await world.person())
  assert.deepEqual(await listed(other.access_token), [])
})

test('SSO-12 a user signed in by SSO only sees that organization, and creates no other', async () => {
  const founder = await world.person()
  const [{ id: organizationId }, other] = [
    await createOrganization(world, founder),
    await createOrganization(world, founder, 'Other'),
  ]
  const idsOf = async (accessToken: string) => (await listed(accessToken)).map(({ id }) => id).toSorted()
  const headers = await signInByOrganization(world, founder, { organizationId })
  const { access_token: theirs } = await app.tokens({ ...founder, headers }, { organizationId })
  assert.deepEqual(await idsOf(theirs), [organizationId])
  const refused = await create({ name: 'One more', ...agreed }, bearer(theirs))
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'insufficient_scope'])
  const { access_token: own } = await app.tokens(founder, { organizationId })
  assert.deepEqual(await idsOf(own), [organizationId, other.id].toSorted())
})

test('ORG-05 a token that is no longer valid for its organization lists none, and creates none', async () => {
  const founder = await world.person()
  const { id: organizationId } = await createOrganization(world, founder)
  const { access_token: accessToken } = await app.tokens(founder, { organizationId })
  await world.db
    .updateTable('organization')
    .set({ sso_connection_id: randomUUID(), sso_required: true })
    .where('organization_id', '=', organizationId)
    .execute()
  for (const answer of [
    await list('', bearer(accessToken)),
    await create({ name: 'New', ...agreed }, bearer(accessToken)),
  ]) {
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_token'])
    assert.match(String(answer.headers['www-authenticate']), /invalid_token/)
  }
})

test("ORG-13 creating a workspace requires the user's consent", async () => {
  const before = await listed(token)
  for (const confirmed of [undefined, false, 'true', 1, null]) {
    const answer = await create({ name: 'Acme', userConfirmedServiceWorkspaceCreation: confirmed })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], String(confirmed))
  }
  assert.deepEqual(await listed(token), before)
})

test('ORG-14 both spellings of the client parameter must name the client of the token', async () => {
  const other = await world.app()
  const differing = await create({ name: 'Acme', client_id: app.clientId, clientId: other.clientId, ...agreed })
  assert.deepEqual([differing.statusCode, differing.json().error], [400, 'invalid_request'])
  for (const field of ['client_id', 'clientId']) {
    const foreign = await create({ name: 'Acme', [field]: other.clientId, ...agreed })
    assert.deepEqual([foreign.statusCode, foreign.json().error], [403, 'invalid_client'])
  }
  const foreign = await list(`?client_id=${other.clientId}`)
  assert.deepEqual([foreign.statusCode, foreign.json().error], [403, 'invalid_client'])
  assert.equal((await list(`?client_id=${app.clientId}`)).statusCode, 200)
})

test('ORG-15 listing and creating workspaces requires a valid token of a registered app', async () => {
  const gone = await world.app()
  const orphan = (await gone.tokens(person)).access_token
  const deleted = await world.api.inject({
    method: 'DELETE',
    url: `/api/admin/apps/${gone.clientId}`,
    headers: world.admin,
  })
  assert.equal(deleted.statusCode, 204)
  world.pass(6)
  const refused = await create({ name: 'Acme', ...agreed }, bearer(orphan))
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'invalid_client'])
  const missing = await list('', bearer(orphan))
  assert.deepEqual([missing.statusCode, missing.json().error], [401, 'invalid_token'])

  for (const [headers, error] of [
    [{}, 'unauthorized'],
    [bearer('cs_at_made-up'), 'invalid_token'],
    [person.headers, 'invalid_token'],
    [{ authorization: 'Basic YTpi' }, 'unauthorized'],
    [{ authorization: 'Bearer' }, 'unauthorized'],
    [{ authorization: 'Bearer ' }, 'unauthorized'],
  ] as const)
    for (const answer of [await create({ name: 'Acme', ...agreed }, headers), await list('', headers)]) {
      assert.deepEqual([answer.statusCode, answer.json().error], [401, error])
      assert.match(String(answer.headers['www-authenticate']), /^Bearer/)
    }
})

test('ORG-16 sixteen workspaces created concurrently with one name have sixteen slugs and one owner each', async () => {
  const answers = await Promise.all(Array.from({ length: 16 }, () => create({ name: 'Crowded', ...agreed })))
  const made = answers.map((answer) => answer.json().organization.slug)
  assert.equal(new Set(made).size, 16)
  for (const slug of made) assert.match(slug, /^crowded(-[0-9a-f]{8})?$/)
  const members = await world.db
    .selectFrom('organization_member')
    .innerJoin('organization', 'organization.organization_id', 'organization_member.organization_id')
    .select('role')
    .where('name', '=', 'Crowded')
    .execute()
  assert.deepEqual(
    members,
    Array.from({ length: 16 }, () => ({ role: 'owner' })),
  )
})

test('ORG-17 a name with disguised characters is rejected, and one that looks like HTML stays text', async () => {
  for (const name of ['', '   ', 'x'.repeat(81), 'x'.repeat(10_240), 'a\u202eb', 'a\u0000b', 7, null]) {
    const answer = await create({ name, ...agreed })
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], String(name).slice(0, 20))
  }
  const answer = await create({ name: '<b>Acme</b>', ...agreed })
  assert.deepEqual(answer.json().organization.name, '<b>Acme</b>')
  assert.match(String(answer.headers['content-type']), /^application\/json/)
})

test('ORG-18 a new workspace has default settings, whatever other fields the body contains', async () => {
  const requested = { role: 'viewer', scopes: [], id: person.userId, slug: 'chosen', ssoRequired: true, ownerCount: 0 }
  const answer = await create({ name: 'Plain', ...requested, ...agreed })
  assert.equal(answer.statusCode, 201)
  const { role, scopes, id, slug, ssoRequired } = answer.json().organization
  assert.deepEqual([role, scopes.length, slug, ssoRequired], ['owner', 7, 'plain', false])
  assert.notEqual(id, person.userId)
})

test('an identity can join at most a hundred organizations', async () => {
  const founder = await world.person()
  const { access_token: own } = await app.tokens(founder)
  const founded = async () => (await create({ name: 'One more', ...agreed }, bearer(own))).statusCode
  for (let count = 0; count < 100; count += 1) assert.equal(await founded(), 201)
  const refused = await create({ name: 'One more', ...agreed }, bearer(own))
  assert.deepEqual([refused.statusCode, refused.json().error], [400, 'workspace_creation_failed'])
})
