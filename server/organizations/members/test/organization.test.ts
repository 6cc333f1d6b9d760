import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import type { IdentityId } from '@countersign/protocol/ids'
import { businessRequest, createOrganization, reauthenticate } from '#testing/organization.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let owner: Person
let stranger: Person
before(async () => {
  world = await createWorld()
  owner = await world.person()
  stranger = await world.person()
})
after(() => world.close())

const ask = (
  person: Pick<Person, 'headers'>,
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: object,
) => businessRequest(world, person, `${method} /organizations${path}`, body)

const found = (person: Person, name?: string) => createOrganization(world, person, name)

async function addIdentity({ headers }: Person): Promise<IdentityId> {
  const payload = { handle: `other-${randomBytes(6).toString('hex')}`, displayName: 'Other' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  return answer.json().identityId
}

test('the creator of an organization owns it, with all permissions', async () => {
  const made = await found(owner, 'Müller & Söhne')
  assert.match(made.slug, /^muller-sohne/)
  assert.deepEqual(
    [made.name, made.role, made.signingAuthority, made.ssoRequired, made.encryptionMode, made.keyCustody],
    ['Müller & Söhne', 'owner', true, false, 'standard', 'svc_standard'],
  )
  const all = ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso', 'manage_org']
  assert.deepEqual(made.scopes, all)
  const read = await ask(owner, 'GET', `/${made.id}`)
  assert.deepEqual(read.json(), { organization: made })
  const { organizations } = (await ask(owner, 'GET', '')).json()
  assert.ok(organizations.some(({ id }: OwnOrganization) => id === made.id))
})

test('ORG-03 an organization without membership looks like a missing one', async () => {
  const { id } = await found(owner)
  for (const organizationId of [id, randomUUID()])
    for (const [method, payload] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
      const answer = await ask(stranger, method, `/${organizationId}`, payload)
      assert.deepEqual([answer.statusCode, answer.json().error], [404, 'organization_not_found'], method)
    }
  assert.deepEqual((await ask(stranger, 'GET', '')).json(), { organizations: [] })
  const asOwner = await ask(stranger, 'POST', '', { name: 'Acme', identityId: owner.identityId })
  assert.deepEqual([asOwner.statusCode, asOwner.json().error], [404, 'identity_not_found'])
})

test('an owner renames the organization, and a slug of another organization is rejected', async () => {
  const [made, other] = [await found(owner), await found(owner, 'Other')]
  const change = {
    name: 'Acme AG',
    slug: `acme-${randomBytes(4).toString('hex')}`,
    logoUrl: 'https://acme.example/a.png',
  }
  const changed = await ask(owner, 'PATCH', `/${made.id}`, change)
  assert.deepEqual(changed.json().organization, { ...made, ...change })
  const taken = await ask(owner, 'PATCH', `/${made.id}`, { slug: other.slug })
  assert.deepEqual([taken.statusCode, taken.json().error], [409, 'slug_taken'])
})

test('an invalid name, slug or logo URL is rejected', async () => {
  const { id } = await found(owner)
  const wrong: object[] = [
    ...['', '   ', 'a\u202eb', 'a\u0000b', 'x'.repeat(81), 'x'.repeat(10_000)].map((name) => ({ name })),
    ...['', '-a', 'a-', 'A', 'a_b', 'a/b', 'x'.repeat(49)].map((slug) => ({ slug })),
    ...['http://acme.example/', 'javascript:alert(1)', 'https://a:b@acme.example/'].map((logoUrl) => ({ logoUrl })),
  ]
  for (const change of wrong) {
    const answer = await ask(owner, 'PATCH', `/${id}`, change)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(change))
  }
})

test('SSO cannot be required before a member has signed in with it', async () => {
  const { id } = await found(owner)
  const answer = await ask(owner, 'PATCH', `/${id}`, { ssoRequired: true })
  assert.deepEqual([answer.statusCode, answer.json().error], [409, 'sso_connection_untested'])
})

test('an owner with recent authentication deletes an organization', async () => {
  const { id } = await found(owner)
  world.pass(301)
  const stale = await ask(owner, 'DELETE', `/${id}`)
  assert.deepEqual([stale.statusCode, stale.json().error], [403, 'reauthentication_required'])
  await reauthenticate(world, owner)
  const headers = { ...owner.headers, 'content-type': 'application/json' }
  const url = `/api/organizations/${id}`
  const deleted = await world.business.inject({ method: 'DELETE', url, headers, payload: 'null' })
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.equal((await ask(owner, 'GET', `/${id}`)).statusCode, 404)
})

test('an organization is deleted with the identity or account of its only member', async () => {
  const leaving = await world.person()
  const identityId = await addIdentity(leaving)
  const ofIdentity = await found({ ...leaving, identityId })
  const ofAccount = await found(leaving)
  const { headers } = leaving
  const deleted = await world.api.inject({ method: 'DELETE', url: `/api/identities/${identityId}`, headers })
  assert.equal(deleted.statusCode, 204, deleted.body)
  const { organizations } = (await ask(leaving, 'GET', '')).json()
  assert.deepEqual(
    organizations.map(({ id }: OwnOrganization) => id),
    [ofAccount.id],
  )
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers })
  assert.equal(gone.statusCode, 204, gone.body)
  const left = await world.db.selectFrom('organization').select('organization_id').execute()
  for (const { id } of [ofIdentity, ofAccount]) assert.ok(!left.some((row) => row.organization_id === id))
})
