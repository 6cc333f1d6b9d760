import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import { createConnectors, delegationsOf, type Connectors } from '#testing/connectors.ts'
import { nameBy, signInByOrganization } from '#testing/enterprise-session.ts'
import { createOrganization } from '#testing/organization.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let notes: Connectors
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]

/** Creates a member of an organization, with a session opened by SSO alone. */
async function member() {
  const person = await world.person()
  const { id: organizationId } = await createOrganization(world, person)
  const connectionId = randomUUID()
  const headers = await signInByOrganization(world, person, { organizationId, connectionId })
  return { person, organizationId, connectionId, byProvider: { ...person, headers } }
}

function authorize({ headers, identityId }: Person, requested: object) {
  const { clientId, redirectUri } = notes.source
  const payload = { clientId, redirectUri, identityId, scope: 'openid', ...requested }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
}

test('SSO-12 a session opened by SSO alone cannot grant a delegation', async () => {
  const { person, organizationId, byProvider } = await member()
  for (const communicationMode of ['background', 'user_present'])
    for (const scope of ['openid offline_access', '']) {
      const refused = await notes.consent(byProvider, { organizationId, communicationMode, scope })
      assert.deepEqual(errorOf(refused), [403, 'passkey_required'])
    }
  assert.deepEqual(await delegationsOf(world, person), [])
  assert.equal((await notes.consent(person, { organizationId })).statusCode, 200)
})

test('SSO-12 a delegation of the user does not apply in a session opened by SSO alone', async () => {
  const { person, organizationId, connectionId, byProvider } = await member()
  assert.equal((await notes.consent(person, { communicationMode: 'background' })).statusCode, 200)
  const requested = { organizationId, scope: 'openid offline_access' }
  const given = await notes.source.tokens(byProvider, requested)
  assert.deepEqual(errorOf(await notes.exchange(given.access_token_jwt)), [403, 'access_denied'])
  const resource = notes.audience
  const code = await notes.source.code(byProvider, requested)
  assert.deepEqual(errorOf(await notes.source.redeem(code, { resource })), [400, 'invalid_target'])
  assert.deepEqual(errorOf(await notes.source.refresh(given.refresh_token, { resource })), [400, 'invalid_grant'])
  const refreshed = (await notes.source.refresh(given.refresh_token)).json()
  assert.deepEqual(errorOf(await notes.exchange(refreshed.access_token_jwt)), [403, 'access_denied'])

  await nameBy(world, person, { organizationId, connectionId })
  const own = await notes.source.tokens(person, requested)
  assert.equal(own.organization?.authMethod, 'enterprise_sso')
  assert.equal((await notes.exchange(own.access_token_jwt)).statusCode, 200, 'in addition to their passkey')
  await world.db.updateTable('token_family').set({ authenticated_by_passkey: null }).execute()
  assert.deepEqual(errorOf(await notes.exchange(own.access_token_jwt)), [403, 'access_denied'], 'not on record')
})

test('SSO-12 a consent in a session opened by SSO alone is not a consent of the user', async () => {
  const { person, organizationId, byProvider } = await member()
  const { clientId } = notes.source
  const given = await notes.source.tokens(byProvider, { organizationId, scope: 'openid profile' })
  for (const scope of ['openid', ''])
    assert.deepEqual(errorOf(await authorize(person, { prompt: 'none', scope })), [403, 'consent_required'])
  const input = `?identity_id=${person.identityId}&scope=openid+profile`
  const url = `/api/oauth/authorization/${clientId}${input}`
  const { missingScopes } = (await world.api.inject({ url, headers: person.headers })).json()
  assert.deepEqual(missingScopes, ['openid', 'profile'])

  const list = await world.api.inject({ url: '/api/oauth/authorizations', headers: person.headers })
  const [authorization] = list.json().authorizations
  assert.deepEqual(
    [authorization.clientId, authorization.scope],
    [clientId, ''],
    'the user sees the app and can disconnect it',
  )
  const gone = `/api/oauth/authorizations/${authorization.id}`
  assert.equal((await world.api.inject({ method: 'DELETE', url: gone, headers: person.headers })).statusCode, 204)
  const headers = { authorization: `Bearer ${given.access_token}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
})

test('SSO-12 a silent request in an SSO session gets what the app already holds for its organization', async () => {
  const { person, organizationId, byProvider } = await member()
  const { clientId } = notes.source
  const silently = (scope: string) => authorize(byProvider, { organizationId, prompt: 'none', scope })
  await notes.source.tokens(person, { scope: 'openid profile' })
  assert.deepEqual(errorOf(await silently('openid')), [403, 'passkey_required'], 'granted as the user')
  world.pass(60)
  const begun = world.now().toISOString()
  await notes.source.tokens(person, { organizationId, scope: 'openid' })
  await notes.source.tokens(byProvider, { organizationId, scope: 'openid' })
  assert.equal((await silently('openid')).statusCode, 200)
  assert.deepEqual(errorOf(await silently('openid profile')), [403, 'consent_required'])
  const input = `?identity_id=${person.identityId}&scope=openid+profile&organization_id=${organizationId}`
  const url = `/api/oauth/authorization/${clientId}${input}`
  const read = (await world.api.inject({ url, headers: byProvider.headers })).json()
  assert.deepEqual([read.authorization.scope, read.missingScopes], ['openid', ['profile']])
  const { createdAt, lastAuthorizedAt, organizationAccess } = read.authorization
  assert.deepEqual(
    [createdAt, lastAuthorizedAt, organizationAccess],
    [begun, begun, null],
    'nothing granted as the user',
  )
})

test('SSO-12 a session opened by SSO alone gives no app what belongs to the user or their account', async () => {
  const { person, organizationId, byProvider } = await member()
  const given = async (app: TestApp, requested: object) => {
    const { clientId, redirectUri } = app
    const payload = { clientId, redirectUri, identityId: person.identityId, organizationId, ...requested }
    const url = '/api/oauth/authorize'
    const by = (headers: Person['headers']) => world.api.inject({ method: 'POST', url, headers, payload })
    assert.equal((await by(person.headers)).statusCode, 200, 'with a passkey')
    return errorOf(await by(byProvider.headers))
  }
  const refused = [403, 'passkey_required']
  const withoutOrganizations = await world.app({ organizationAccess: 'none' })
  assert.deepEqual(await given(withoutOrganizations, { scope: 'openid' }), refused)
  assert.deepEqual(
    await given(await world.app({ allowedScopes: ['openid', 'user_id'] }), { scope: 'openid user_id' }),
    refused,
  )
  const encrypting = await world.app({ supportsE2ee: true })
  assert.deepEqual(await given(encrypting, { scope: 'openid', encryptedAppKey: 'sealed' }), refused)
  assert.deepEqual(await given(await world.app(), { scope: 'openid', maxAge: 60 }), [403, 'reauthentication_required'])
})

test('SSO-16 SSO alone opens no account that a member has at an app for themselves', async () => {
  const { person, organizationId, byProvider } = await member()
  const app = await world.app()
  const { clientId, redirectUri } = app
  const by = async ({ headers, identityId }: Person, requested: object) => {
    const payload = { clientId, redirectUri, identityId, scope: 'openid', ...requested }
    return errorOf(await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload }))
  }
  const required = async () => {
    const input = `?identity_id=${person.identityId}&scope=openid&organization_id=select`
    const url = `/api/oauth/authorization/${clientId}${input}`
    const { organizations } = (await world.api.inject({ url, headers: byProvider.headers })).json()
    return organizations.map((choice: { passkeyRequired?: true }) => choice.passkeyRequired)
  }
  const refused = [403, 'passkey_required']
  const allowed = [200, undefined]
  assert.deepEqual(await by(byProvider, { organizationId }), allowed, 'not connected by the member')
  assert.deepEqual(await by(person, {}), allowed, 'for themselves')
  for (const prompt of [undefined, 'none', 'consent'])
    assert.deepEqual(await by(byProvider, { organizationId, prompt }), refused)
  assert.deepEqual(await required(), [true])

  await app.tokens(person, { organizationId, scope: 'openid offline_access' })
  assert.deepEqual(await by(byProvider, { organizationId }), allowed, 'after a sign-in with the passkey')
  assert.deepEqual(await required(), [undefined])

  const signIn = async (named: OrganizationId) =>
    by(
      { ...person, headers: await signInByOrganization(world, person, { organizationId: named }) },
      { organizationId: named },
    )
  world.pass(60 * 24 * 3600)
  assert.deepEqual(await signIn(organizationId), allowed, 'also when nothing of it is left')
  const { id: other } = await createOrganization(world, { ...person, headers: await person.signIn() })
  assert.deepEqual(await signIn(other), refused, 'not for another organization')
})

test('ORG-05 ORG-07 a token that is invalid for its organization cannot be exchanged', async () => {
  const { person, organizationId, connectionId } = await member()
  await notes.consent(person)
  const { access_token_jwt: jwt } = await notes.source.tokens(person, { organizationId })
  assert.equal((await notes.exchange(jwt)).statusCode, 200)
  await world.db
    .updateTable('organization')
    .set({ sso_connection_id: connectionId, sso_required: true })
    .where('organization_id', '=', organizationId)
    .execute()
  assert.deepEqual(errorOf(await notes.exchange(jwt)), [400, 'invalid_request'])
})
