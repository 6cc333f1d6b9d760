import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConnectors } from '#testing/connectors.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { exchange, newParams, openBrowser } from '#testing/federated-browser.ts'
import { createOrganization } from '#testing/organization.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Reach = 'create' | 'read' | 'none'

/** Returns the API's answers to an access token about the organizations of its user. */
async function reachOf(accessToken: string): Promise<Reach> {
  const headers = { authorization: `Bearer ${accessToken}` }
  const listed = await world.api.inject({ url: '/api/oauth/organizations', headers })
  assert.equal(listed.statusCode, 200, listed.body)
  const payload = { name: 'Made by an app', userConfirmedServiceWorkspaceCreation: true }
  const created = await world.api.inject({ method: 'POST', url: '/api/oauth/workspaces', headers, payload })
  const sees = listed.json<{ organizations: unknown[] }>().organizations.length > 0
  if (created.statusCode === 201)
    return sees ? 'create' : assert.fail('the app creates an organization that it cannot list')
  assert.deepEqual([created.statusCode, created.json().error], [400, 'workspace_creation_failed'])
  return sees ? 'read' : 'none'
}

/** Creates a user with an organization that an app can list or not. */
async function founder(): Promise<Person> {
  const person = await world.person()
  await createOrganization(world, person)
  return person
}

const change = (app: Pick<TestApp, 'clientId'>, payload: object) =>
  world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin, payload })

async function recordedOf({ headers }: Person, { clientId }: Pick<TestApp, 'clientId'>): Promise<Reach | null> {
  const listed = await world.api.inject({ url: '/api/oauth/authorizations', headers })
  const { authorizations } = listed.json<{
    authorizations: { clientId: string; organizationAccess: Reach | null }[]
  }>()
  return authorizations.find((each) => each.clientId === clientId)?.organizationAccess ?? null
}

test("OGA-01 an app's organization access is limited to its registration, whatever its scope", async () => {
  const person = await founder()
  for (const [organizationAccess, reach] of [
    ['none', 'none'],
    ['read', 'read'],
    ['create', 'create'],
  ] as const) {
    const app = await world.app({ organizationAccess })
    for (const scope of ['openid', '', 'openid profile offline_access']) {
      const { access_token: token } = await app.tokens(person, { scope, organizationAccess: 'create' })
      assert.equal(await reachOf(token), reach, `${organizationAccess} "${scope}"`)
    }
  }
})

test('OGA-02 an app without organization access lists no organizations, including with existing tokens', async () => {
  const [person, app] = [await founder(), await world.app()]
  const { access_token: before } = await app.tokens(person, { organizationAccess: 'create' })
  assert.equal(await reachOf(before), 'create')
  const tokens = await app.tokens(person, { organizationAccess: 'none' })
  const { access_token: refreshed, access_token_jwt: jwt } = (await app.refresh(tokens.refresh_token)).json()
  for (const token of [before, tokens.access_token, refreshed, jwt]) assert.equal(await reachOf(token), 'none')
  assert.equal(await recordedOf(person, app), 'none')
  const { access_token: again } = await app.tokens(person)
  assert.equal(await reachOf(again), 'none', 'a request without a choice changes no authorization')
  const { access_token: allowed } = await app.tokens(person, { organizationAccess: 'read' })
  assert.equal(await reachOf(allowed), 'read')
})

test("OGA-03 access that an app adds later requires the user's consent", async () => {
  const [person, app] = [await founder(), await world.app({ organizationAccess: 'read' })]
  const { access_token: token } = await app.tokens(person, { scope: 'openid', organizationAccess: 'read' })
  await change(app, { organizationAccess: 'create' })
  assert.equal(await reachOf(token), 'read')
  for (const requested of [{ prompt: 'none' }, { prompt: 'none', organizationAccess: 'create' }, {}] as const) {
    const { access_token: later } = await app.tokens(person, { scope: 'openid', ...requested })
    assert.equal(await reachOf(later), 'read', JSON.stringify(requested))
  }
  const { access_token: agreed } = await app.tokens(person, { scope: 'openid', organizationAccess: 'create' })
  assert.equal(await reachOf(agreed), 'create')
  await change(app, { organizationAccess: 'none' })
  assert.equal(await reachOf(agreed), 'none')
})

test("OGA-04 a FedCM sign-in adds no access, and its window records the user's choice", async () => {
  const [person, app] = [await founder(), await world.app()]
  const browser = await openBrowser(world, person)
  const { verifier, params } = newParams('openid')
  const { continue_on: continueOn } = (await browser.assertion(app, params)).json()
  const windowed = await browser.finish(app, continueOn, { organizationAccess: 'none' })
  const first = (await exchange(world, app, windowed, { codeVerifier: verifier })).json()
  assert.equal(await reachOf(first.access_token), 'none')

  const again = newParams('openid')
  const { token } = (await browser.assertion(app, again.params)).json()
  const silent = (await exchange(world, app, token, { codeVerifier: again.verifier })).json()
  assert.equal(await reachOf(silent.access_token), 'none')
})

test('OGA-04 a FedCM sign-in does not grant access that the app adds later', async () => {
  const [person, app] = [await founder(), await world.app({ organizationAccess: 'read' })]
  await app.tokens(person, { scope: 'openid', organizationAccess: 'read' })
  await change(app, { organizationAccess: 'create' })
  const browser = await openBrowser(world, person)
  const { verifier, params } = newParams('openid')
  const { token } = (await browser.assertion(app, params)).json()
  const tokens = (await exchange(world, app, token, { codeVerifier: verifier })).json()
  assert.equal(await reachOf(tokens.access_token), 'read')
})

test('OGA-05 a delegation adds no access, and a delegated token lists no organizations', async () => {
  const notes = await createConnectors(world)
  const person = await founder()
  const consented = await notes.consent(person, { organizationAccess: 'none' })
  assert.equal(consented.statusCode, 200, consented.body)
  const code = new URL(consented.json().redirectUrl).searchParams.get('code') ?? ''
  const tokens = (await notes.source.redeem(code)).json()
  assert.equal(await reachOf(tokens.access_token), 'none')

  await notes.consent(person, { organizationAccess: 'create' })
  const delegated = (await notes.exchange(tokens.access_token_jwt)).json()
  const headers = { authorization: `Bearer ${delegated.access_token}` }
  const refused = await world.api.inject({ url: '/api/oauth/organizations', headers })
  assert.deepEqual([refused.statusCode, refused.json().error], [401, 'invalid_token'])
})

test("OGA-06 the user's choice applies to a pushed authorization request", async () => {
  const [person, app] = [await founder(), await world.app()]
  const fields = { redirect_uri: app.redirectUri, response_type: 'code', scope: 'openid', organizationAccess: 'create' }
  const pushed = await postForm(world.api, '/api/oauth/par', { ...fields, ...app.credentials })
  const { clientId, redirectUri } = app
  const { identityId, headers } = person
  const requestUri = pushed.json().request_uri
  const payload = { clientId, redirectUri, identityId, requestUri, scope: 'openid', organizationAccess: 'none' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers, payload })
  assert.equal(answer.statusCode, 200, answer.body)
  const code = new URL(answer.json().redirectUrl).searchParams.get('code') ?? ''
  assert.equal(await reachOf((await app.redeem(code)).json().access_token), 'none')
})

test('OGA-07 a session opened by SSO only decides nothing about other organizations', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const { id: organizationId } = await createOrganization(world, person)
  await createOrganization(world, person, 'Other')
  const headers = await signInByOrganization(world, person, { organizationId })
  const requested = { scope: 'openid', organizationId, organizationAccess: 'create' }
  const { access_token: token } = await app.tokens({ ...person, headers }, requested)
  const listed = await world.api.inject({
    url: '/api/oauth/organizations',
    headers: { authorization: `Bearer ${token}` },
  })
  assert.deepEqual(
    listed.json<{ organizations: { id: string }[] }>().organizations.map(({ id }) => id),
    [organizationId],
  )
  assert.equal(await recordedOf(person, app), null)
  const chosen = await app.tokens(person, { scope: 'openid', organizationAccess: 'none' })
  assert.equal(await reachOf(chosen.access_token), 'none')
  await app.tokens(person, { scope: 'openid', organizationId })
  await app.tokens({ ...person, headers }, requested)
  assert.equal(await recordedOf(person, app), 'none')
})

test('OGA-08 authorizations from before this choice existed count as `create`', async () => {
  const [person, app] = [await founder(), await world.app()]
  const { access_token: token } = await app.tokens(person, { organizationAccess: 'none' })
  // The row as the previous version wrote it.
  await world.db.deleteFrom('authorization_consent').where('client_id', '=', app.clientId).execute()
  await world.db
    .insertInto('authorization_consent')
    .values({
      identity_id: person.identityId,
      client_id: app.clientId,
      authorization_id: '0190163d-8694-739b-aea5-966c26f8ad90',
      scope: ['openid', 'profile', 'offline_access'],
      created_at: world.now(),
      last_authorized_at: world.now(),
    })
    .execute()
  assert.equal(await reachOf(token), 'create')
})
