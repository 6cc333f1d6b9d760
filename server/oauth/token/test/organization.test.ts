import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { OrganizationContext } from '@countersign/protocol/organizations/organizations'
import { nameBy, signInByOrganization } from '#testing/enterprise-session.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { createWorld, postForm, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Consenting = Pick<Person, 'headers' | 'identityId'>

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const userinfo = (token: string) => world.api.inject({ url: '/api/oauth/userinfo', headers: bearer(token) })
const claimsIn = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())

/** Creates a user who owns an organization; returns both. */
async function owner(name = 'Acme') {
  const person = await world.person()
  const { id: organizationId, memberId } = await createOrganization(world, person, name)
  return { person, organizationId, memberId }
}

const change = (
  organizationId: OrganizationId,
  set: { status?: 'suspended'; sso_connection_id?: string; sso_required?: boolean },
) => world.db.updateTable('organization').set(set).where('organization_id', '=', organizationId).execute()

/** Makes an organization require SSO, like an admin who has set up and tested a connection. */
async function requireSso(organizationId: OrganizationId): Promise<string> {
  const connectionId = randomUUID()
  await change(organizationId, { sso_connection_id: connectionId, sso_required: true })
  return connectionId
}

/** Creates a user who is a viewer of an organization, with a function by which its owner removes them. */
async function memberOf() {
  const founder = await world.person()
  const { id: organizationId } = await createOrganization(world, founder)
  const person = await world.person()
  const { memberId } = await join(world, { id: organizationId, owner: founder, role: 'viewer' }, person)
  const remove = () => businessRequest(world, founder, `DELETE /organizations/${organizationId}/members/${memberId}`)
  return { founder, person, organizationId, memberId, remove }
}

function authorize(app: TestApp, person: Consenting, requested: object) {
  const { clientId, redirectUri } = app
  const payload = { clientId, redirectUri, identityId: person.identityId, scope: 'openid offline_access', ...requested }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers: person.headers, payload })
}

test("an app used for an organization gets it and the user's role in all tokens and answers", async () => {
  const { person, organizationId, memberId } = await owner('Müller & Söhne')
  const app = await world.app()
  const received: OrganizationContext = {
    id: organizationId,
    name: 'Müller & Söhne',
    memberId,
    role: 'owner',
    scopes: ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso', 'manage_org'],
    signingAuthority: true,
    encryptionMode: 'standard',
    keyCustody: 'svc_standard',
    authMethod: 'passkey',
    e2eeKeyDelivery: 'svc_identity_grants_only',
  }
  const first = await app.tokens(person, { organizationId })
  const refreshed = (await app.refresh(first.refresh_token)).json()
  for (const tokens of [first, refreshed]) {
    assert.deepEqual(tokens.organization, received)
    assert.deepEqual(claimsIn(tokens.id_token).organization, received)
    assert.deepEqual(claimsIn(tokens.access_token_jwt).organization, received)
    for (const token of [tokens.access_token, tokens.access_token_jwt]) {
      assert.deepEqual((await userinfo(token)).json().organization, received)
      const described = await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
      assert.deepEqual(described.json().organization, received)
    }
  }
  assert.deepEqual(claimsIn(first.id_token ?? '').amr, ['pop', 'mfa'])
})

test('ORG-11 an app that named no organization gets none, whatever organizations the user belongs to', async () => {
  const { person, organizationId } = await owner()
  const app = await world.app()
  await app.tokens(person, { organizationId })
  for (const requested of [{}, { organizationId: null }]) {
    const answer = await authorize(app, person, requested)
    const code = new URL(answer.json().redirectUrl).searchParams.get('code') ?? ''
    const tokens = (await app.redeem(code)).json()
    const refreshed = (await app.refresh(tokens.refresh_token)).json()
    const claims = [tokens, refreshed].flatMap((each) => [
      each,
      claimsIn(each.id_token),
      claimsIn(each.access_token_jwt),
    ])
    const received = [...claims, (await userinfo(tokens.access_token)).json()]
    for (const each of received) assert.equal('organization' in each, false)
  }
})

test('a change in an organization is in the next token, and in userinfo at once', async () => {
  const { founder, person, organizationId, memberId } = await memberOf()
  const app = await world.app()
  const tokens = await app.tokens(person, { organizationId })
  const path = `/organizations/${organizationId}` as const
  await businessRequest(world, founder, `PATCH ${path}/members/${memberId}`, { role: 'signer' })
  await businessRequest(world, founder, `PATCH ${path}`, { name: 'Acme Two' })
  await world.db
    .updateTable('organization')
    .set({ encryption_mode: 'e2ee' })
    .where('organization_id', '=', organizationId)
    .execute()
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  const shown = (await userinfo(tokens.access_token)).json().organization
  for (const received of [shown, refreshed.organization, claimsIn(refreshed.id_token).organization]) {
    const { name, role, scopes, signingAuthority, keyCustody, e2eeKeyDelivery } = received
    assert.deepEqual(
      [name, role, scopes, signingAuthority, keyCustody, e2eeKeyDelivery],
      ['Acme Two', 'signer', ['read', 'sign', 'approve'], true, 'identity_grants', 'svc_identity_grants_only'],
    )
  }
})

test('ORG-06 no code is issued for an organization that the user is not in, nor for a suspended one', async () => {
  const { person, organizationId } = await owner()
  const { person: stranger } = await owner()
  const app = await world.app()
  const refused = async (who: Consenting, requested: string) => {
    const answer = await authorize(app, who, { organizationId: requested })
    assert.deepEqual([answer.statusCode, answer.json().error], [403, 'organization_access_denied'])
    assert.equal(answer.json().redirectUrl, undefined)
  }
  await refused(stranger, organizationId)
  await refused(person, randomUUID())
  const tokens = await app.tokens(person, { organizationId })
  const code = await app.code(person, { organizationId })
  await change(organizationId, { status: 'suspended' })
  await refused(person, organizationId)
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  const answer = await userinfo(tokens.access_token)
  assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_token'])
  assert.match(String(answer.headers['www-authenticate']), /invalid_token/)
  const described = await postForm(world.api, '/api/oauth/introspect', {
    ...app.credentials,
    token: tokens.access_token,
  })
  assert.deepEqual(described.json(), { active: false })
})

test('ORG-05 REF-08 a user without an SSO sign-in gets no code for an organization that requires it', async () => {
  const { person, organizationId } = await owner()
  const app = await world.app()
  const before = await app.tokens(person, { organizationId })
  const connectionId = await requireSso(organizationId)
  const answer = await authorize(app, person, { organizationId })
  assert.deepEqual([answer.statusCode, answer.json().error], [403, 'enterprise_sso_required'])
  assert.equal(answer.json().loginUrl, `${world.config.baseUrl.origin}/api/sso/${connectionId}/start`)
  assert.equal((await app.refresh(before.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await userinfo(before.access_token)).statusCode, 401)
  assert.equal((await authorize(app, person, {})).statusCode, 200, 'without organization')

  await nameBy(world, person, { organizationId, connectionId })
  const { organization, ...tokens } = await app.tokens(person, { organizationId })
  assert.deepEqual([organization?.authMethod, organization?.ssoConnectionId], ['enterprise_sso', connectionId])
  const refreshed = (await app.refresh(tokens.refresh_token)).json()
  world.pass(24 * 3600)
  assert.equal(
    (await authorize(app, person, { organizationId })).json().error,
    'enterprise_sso_required',
    'a day later',
  )
  assert.equal((await app.refresh(refreshed.refresh_token)).statusCode, 200, 'existing tokens stay valid')
})

test('SSO-12 an SSO sign-in counts for its own organization and session only', async () => {
  const { person, organizationId } = await owner()
  const { id: otherId } = await createOrganization(world, person, 'Other')
  const app = await world.app()
  const headers = await person.signIn()
  await nameBy(world, person, { organizationId, connectionId: randomUUID() })
  const methodOf = async (who: Consenting, requested: string) => {
    const { organization } = await app.tokens(who, { organizationId: requested })
    return [organization?.authMethod, organization !== undefined && 'ssoConnectionId' in organization]
  }
  assert.deepEqual(await methodOf(person, organizationId), ['enterprise_sso', true])
  assert.deepEqual(await methodOf(person, otherId), ['passkey', false])
  assert.deepEqual(await methodOf({ ...person, headers }, organizationId), ['passkey', false])
})

test('SSO-12 an SSO sign-in of one identity counts for no other identity of the user', async () => {
  const { person, organizationId } = await owner()
  const payload = { handle: `at-work-${randomUUID().slice(0, 8)}`, displayName: 'At work' }
  const added = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  const atWork = { ...person, handle: payload.handle, identityId: added.json().identityId }
  await join(world, { id: organizationId, owner: person, role: 'viewer' }, atWork)
  const app = await world.app()
  const connectionId = randomUUID()
  await nameBy(world, atWork, { organizationId, connectionId })
  const methodOf = async (who: Consenting) => (await app.tokens(who, { organizationId })).organization?.authMethod
  assert.deepEqual([await methodOf(person), await methodOf(atWork)], ['passkey', 'enterprise_sso'])

  await change(organizationId, { sso_connection_id: connectionId, sso_required: true })
  const refused = await authorize(app, person, { organizationId })
  assert.deepEqual([refused.statusCode, refused.json().error], [403, 'enterprise_sso_required'])
  assert.equal(await methodOf(atWork), 'enterprise_sso')
  const loginUrlFor = async ({ identityId }: Consenting) => {
    const url = `/api/oauth/authorization/${app.clientId}?identity_id=${identityId}&organization_id=select`
    const { organizations } = (await world.api.inject({ url, headers: person.headers })).json()
    return organizations[0].loginUrl
  }
  const loginUrl = refused.json().loginUrl
  assert.deepEqual([await loginUrlFor(person), await loginUrlFor(atWork)], [loginUrl, undefined])
})

test('SSO-12 a session opened by SSO is valid for its organization only, and proves no passkey', async () => {
  const { person, organizationId } = await owner()
  const { organizationId: strangers } = await owner()
  const connectionId = await requireSso(organizationId)
  const { identityId } = person
  const who = { identityId, headers: await signInByOrganization(world, person, { organizationId, connectionId }) }
  const app = await world.app()
  for (const requested of [{}, { organizationId: null }])
    assert.equal((await authorize(app, who, requested)).json().error, 'passkey_required')
  assert.equal((await authorize(app, who, { organizationId: strangers })).json().error, 'organization_access_denied')
  const { organization, id_token: idToken = '' } = await app.tokens(who, { organizationId })
  assert.deepEqual([organization?.authMethod, organization?.ssoConnectionId], ['enterprise_sso', connectionId])
  const { amr, acr, sub } = claimsIn(idToken)
  assert.deepEqual([amr, acr, sub], [undefined, undefined, identityId])
  world.pass(24 * 3600)
  assert.equal((await world.api.inject({ url: '/api/auth/session', headers: who.headers })).statusCode, 401)
})

test('a silent request works for organizations that the app already acts for, and for no other', async () => {
  const { person, organizationId } = await owner()
  const app = await world.app()
  await app.tokens(person)
  const silently = () => authorize(app, person, { organizationId, prompt: 'none', scope: 'openid' })
  assert.equal((await silently()).json().error, 'consent_required')
  const tokens = await app.tokens(person, { organizationId })
  assert.equal((await silently()).statusCode, 200)
  await postForm(world.api, '/api/oauth/revoke', { ...app.credentials, token: tokens.refresh_token })
  world.pass(61)
  assert.equal((await silently()).json().error, 'consent_required', 'the app has given that up')
})

test('a request pushed without an organization is answered without one, whatever the page sends', async () => {
  const { person, organizationId } = await owner()
  const app = await world.app()
  const push = async (more: Record<string, string>) => {
    const fields = {
      ...app.credentials,
      response_type: 'code',
      redirect_uri: app.redirectUri,
      scope: 'openid',
      ...more,
    }
    return (await postForm(world.api, '/api/oauth/par', fields)).json().request_uri
  }
  const tokensOf = async (requestUri: string) => {
    const answer = await authorize(app, person, { organizationId, requestUri, scope: 'openid' })
    assert.equal(answer.statusCode, 200, answer.body)
    return (await app.redeem(new URL(answer.json().redirectUrl).searchParams.get('code') ?? '')).json()
  }
  assert.equal((await tokensOf(await push({}))).organization, undefined)
  for (const input of [organizationId, 'select'])
    assert.equal((await tokensOf(await push({ organization_id: input }))).organization?.id, organizationId)
  const answer = await postForm(world.api, '/api/oauth/par', {
    ...app.credentials,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    organization_id: 'Acme',
  })
  assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'])
})

test('a user chooses among the organizations of the identity, and sees which of them require SSO first', async () => {
  const { person, organizationId } = await owner()
  const app = await world.app()
  const choices = async (headers: Record<string, string>, more = '&organization_id=select') => {
    const url = `/api/oauth/authorization/${app.clientId}?identity_id=${person.identityId}${more}`
    return (await world.api.inject({ url, headers })).json().organizations
  }
  const choice = { id: organizationId, name: 'Acme', logoUrl: null }
  assert.equal(await choices(person.headers, ''), undefined)
  assert.deepEqual(await choices(person.headers), [{ ...choice, known: false }])
  await app.tokens(person, { organizationId })
  assert.deepEqual(await choices(person.headers), [{ ...choice, known: true }])
  const connectionId = await requireSso(organizationId)
  const loginUrl = `${world.config.baseUrl.origin}/api/sso/${connectionId}/start`
  assert.deepEqual(await choices(person.headers), [{ ...choice, known: true, loginUrl }])
  const byAcme = await signInByOrganization(world, person, { organizationId, connectionId })
  assert.deepEqual(await choices(byAcme), [{ ...choice, known: true }])
  assert.deepEqual(await choices(await signInByOrganization(world, person)), [], 'a session of another organization')
})

test('COD-16 a code for an organization is invalid once its member was removed or it was suspended', async () => {
  const app = await world.app()
  const removed = await memberOf()
  const ofRemoved = await app.code(removed.person, { organizationId: removed.organizationId })
  assert.equal((await removed.remove()).statusCode, 204)
  const suspended = await memberOf()
  const ofSuspended = await app.code(suspended.person, { organizationId: suspended.organizationId })
  await change(suspended.organizationId, { status: 'suspended' })
  for (const code of [ofRemoved, ofSuspended]) {
    const answer = await app.redeem(code)
    assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_grant'])
    assert.equal(answer.json().access_token, undefined)
  }
  const { person, organizationId } = await memberOf()
  assert.equal((await app.redeem(await app.code(person, { organizationId }))).statusCode, 200, 'a remaining member')
})

test("REF-18 a refresh returns the member's current role in every token, not the one at sign-in", async () => {
  const { founder, person, organizationId, memberId } = await memberOf()
  const app = await world.app()
  const first = await app.tokens(person, { organizationId })
  const rolesIn = (tokens: { id_token?: string; access_token_jwt: string; organization?: { role: string } }) => [
    tokens.organization?.role,
    claimsIn(tokens.id_token ?? '').organization.role,
    claimsIn(tokens.access_token_jwt).organization.role,
  ]
  assert.deepEqual(rolesIn(first), ['viewer', 'viewer', 'viewer'])
  let refreshToken = first.refresh_token
  for (const role of ['admin', 'viewer']) {
    const path = `PATCH /organizations/${organizationId}/members/${memberId}` as const
    const changed = await businessRequest(world, founder, path, { role })
    assert.equal(changed.statusCode, 200, changed.body)
    const refreshed = (await app.refresh(refreshToken)).json()
    assert.deepEqual(rolesIn(refreshed), [role, role, role])
    const { organization } = (await userinfo(refreshed.access_token)).json()
    assert.equal(organization.role, role)
    const isManager = organization.scopes.includes('manage_identities')
    assert.equal(isManager, role === 'admin', 'and the scopes of that role')
    refreshToken = refreshed.refresh_token
  }
})

test('ORG-07 REF-08 removing a member revokes their tokens for the organization', async () => {
  const { person, organizationId, remove } = await memberOf()
  const app = await world.app()
  const own = await app.tokens(person)
  const [tokens, code] = [await app.tokens(person, { organizationId }), await app.code(person, { organizationId })]
  await remove()
  assert.equal((await app.redeem(code)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_grant')
  for (const token of [tokens.access_token, tokens.access_token_jwt]) {
    assert.equal((await userinfo(token)).statusCode, 401)
    const described = await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })
    assert.deepEqual(described.json(), { active: false })
  }
  assert.equal((await authorize(app, person, { organizationId })).json().error, 'organization_access_denied')
  assert.equal((await userinfo(own.access_token)).statusCode, 200)
  const list = await world.api.inject({ url: '/api/oauth/organizations', headers: bearer(own.access_token) })
  assert.deepEqual(list.json(), { organizations: [] })
})

test('ORG-07 a removal during a consent, redemption, refresh and introspection leaves no valid token', async () => {
  const app = await world.app()
  for (let round = 0; round < 8; round += 1) {
    const { person, organizationId, remove } = await memberOf()
    const code = await app.code(person, { organizationId })
    const tokens = await app.tokens(person, { organizationId })
    const late = async () => {
      const answer = await authorize(app, person, { organizationId })
      return answer.statusCode === 200 ? new URL(answer.json().redirectUrl).searchParams.get('code') : null
    }
    const asks = [() => app.redeem(code), () => app.refresh(tokens.refresh_token), () => userinfo(tokens.access_token)]
    const [lateCode, , ...answers] = await Promise.all([
      late(),
      ...[remove, ...asks.slice(round % 3), ...asks.slice(0, round % 3)].map((ask) => ask()),
    ])
    const given = [tokens, ...answers.flatMap((answer) => (answer?.json().access_token ? [answer.json()] : []))]
    for (const { access_token: access, refresh_token: refresh } of given) {
      assert.equal((await userinfo(access)).statusCode, 401)
      assert.equal((await app.refresh(refresh)).json().error, 'invalid_grant')
    }
    if (lateCode) assert.equal((await app.redeem(lateCode)).json().error, 'invalid_grant')
    const families = world.db.selectFrom('token_family').select('family_id').where('revoked_at', 'is', null)
    const alive = await families.where('organization_id', '=', organizationId).execute()
    assert.deepEqual(alive, [], 'no token that would become valid again if the member came back')
  }
})
