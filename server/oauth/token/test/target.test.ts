import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConnectors, delegationsOf, revoke, type Connectors } from '#testing/connectors.ts'
import {
  createWorld,
  newChallenge,
  postForm,
  postToken,
  type Person,
  type TestApp,
  type TestWorld,
} from '#testing/world.ts'

let world: TestWorld
let notes: Connectors
let agent: TestApp
let person: Person
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
  agent = await world.app({ name: 'Agent', public: true })
  person = await world.person()
})
after(() => world.close())

const viewIn = (body: string) => JSON.parse(/id="view">(.*)<\/script>/.exec(body)?.[1] ?? '{}')
const claimsOf = (jwt: string) => JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
const errorOf = (answer: { statusCode: number; json: () => { error: string } }) => [
  answer.statusCode,
  answer.json().error,
]
const { verifier, challenge } = newChallenge()
const asking = (parameters: Record<string, string> = {}) => ({
  ...{ client_id: agent.clientId, redirect_uri: agent.redirectUri, resource: notes.audience },
  ...{ code_challenge: challenge, scope: 'notes.read offline_access', ...parameters },
})
const show = (query: string | Record<string, string>) =>
  world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
/** Returns the error in the redirect to the app. */
const errorOfApp = ({ headers }: Awaited<ReturnType<typeof show>>) =>
  new URL(headers.location ?? '').searchParams.get('error')

/** Sends the consent that the page sends after showing the request. */
async function consent(parameters: Record<string, string> = {}, who: Person = person) {
  const answer = await sendConsent(parameters, who)
  assert.equal(answer.statusCode, 200, answer.body)
  return codeIn(answer)
}
const codeIn = (answer: Awaited<ReturnType<typeof sendConsent>>) =>
  new URL(answer.json().redirectUrl).searchParams.get('code') ?? ''

async function sendConsent(parameters: Record<string, string>, who: Person) {
  const view = viewIn((await show(asking(parameters))).body)
  const { resourceKey: requestedResource, scopes, mode: communicationMode } = view.connector
  const connector = scopes.map(({ scope }: { scope: string }) => scope).join(' ')
  const prompt = view.prompts.join(' ')
  return world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: who.headers,
    payload: {
      ...{ clientId: agent.clientId, redirectUri: agent.redirectUri, identityId: who.identityId },
      ...{ codeChallenge: challenge, scope: view.scope.join(' '), connector: true },
      ...{ requestedResource, requestedScope: connector, communicationMode, ...(prompt && { prompt }) },
    },
  })
}
const redeem = (code: string, fields: Record<string, string> = { resource: notes.audience }) =>
  agent.redeem(code, { code_verifier: verifier, ...fields })
const refresh = (token: string, fields: Record<string, string> = { resource: notes.audience }) =>
  agent.refresh(token, fields)

test("scopes of this provider are the app's own, others belong to the named resource", async () => {
  const { scope, connector } = viewIn((await show(asking({ scope: 'openid notes.write offline_access' }))).body)
  assert.deepEqual(scope, ['openid', 'offline_access'])
  assert.deepEqual([connector.resourceKey, connector.mode], [notes.resourceKey, 'background'])
  assert.deepEqual(connector.scopes, [{ scope: 'notes.write', description: '' }])
  assert.equal(viewIn((await show(asking({ scope: 'notes.read' }))).body).connector.mode, 'user_present')
  const { resource: _, ...alone } = asking({ scope: 'openid' })
  assert.equal(
    viewIn((await show(alone)).body).connector,
    undefined,
    'without a resource no scope belongs to another app',
  )
})

test('DEL-09 an unknown resource or scope is reported to the app', async () => {
  const wrong: [Record<string, string>, string][] = [
    [{ resource: 'https://other.example/api' }, 'invalid_target'],
    [{ resource: notes.resourceKey }, 'invalid_target'],
    [{ resource: `${notes.audience}#a` }, 'invalid_target'],
    [{ scope: 'openid offline_access' }, 'invalid_scope'],
    [{ scope: '' }, 'invalid_scope'],
    [{ scope: 'notes.read notes.delete' }, 'invalid_scope'],
    [{ scope: 'notes.read user_id' }, 'invalid_scope'],
  ]
  for (const [parameters, error] of wrong) assert.equal(errorOfApp(await show(asking(parameters))), error, error)
  const twice = `${new URLSearchParams(asking())}&resource=${encodeURIComponent(notes.audience)}`
  assert.equal(errorOfApp(await show(twice)), 'invalid_target', 'more than one')
  const posted = await world.auth.inject({
    method: 'POST',
    url: '/signin',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: twice,
  })
  assert.equal(errorOfApp(posted), 'invalid_target')
  await notes.changeResource({ status: 'disabled' })
  assert.equal(errorOfApp(await show(asking())), 'invalid_target', 'disabled')
  await notes.changeResource({ status: 'active' })
})

test('DEL-15 DEL-17 a code issues a token for the resource only, and a refresh token issues another one', async () => {
  const answer = await redeem(await consent({ scope: 'openid notes.read offline_access' }))
  assert.equal(answer.statusCode, 200, answer.body)
  const given = answer.json()
  assert.deepEqual(Object.keys(given).toSorted(), [
    ...['access_token', 'expires_in', 'id_token', 'refresh_token', 'scope', 'token_type'],
  ])
  assert.deepEqual([given.expires_in, given.scope, given.token_type], [600, 'notes.read', 'Bearer'])
  const claims = claimsOf(given.access_token)
  assert.deepEqual(
    [claims.aud, claims.sub, claims.client_id, claims.act, claims.scope, claims.com_mode],
    [notes.audience, person.identityId, agent.clientId, { sub: agent.clientId }, 'notes.read', 'background'],
  )
  assert.equal(claimsOf(given.id_token).aud, agent.clientId)
  const used = await world.api.inject({
    url: '/api/oauth/userinfo',
    headers: { authorization: `Bearer ${given.access_token}` },
  })
  assert.equal(used.statusCode, 401, 'the token is invalid here')
  assert.equal((await notes.introspect(notes.target, given.access_token)).json().active, true)

  world.pass(3700)
  const refreshed = await refresh(given.refresh_token)
  assert.equal(refreshed.statusCode, 200, refreshed.body)
  assert.equal(claimsOf(refreshed.json().access_token).grant_id, claims.grant_id)
  const plain = (await refresh(refreshed.json().refresh_token, {})).json()
  assert.match(plain.access_token_jwt, /^ey/, 'without a resource the token is for this provider')
})

test('DEL-08 a refresh may narrow the granted scope, not widen it', async () => {
  const { refresh_token: first } = (
    await redeem(await consent({ scope: 'notes.read notes.write offline_access' }))
  ).json()
  const less = await refresh(first, { resource: notes.audience, scope: 'notes.write' })
  assert.deepEqual([less.json().scope, claimsOf(less.json().access_token).scope], ['notes.write', 'notes.write'])
  const next = less.json().refresh_token
  assert.deepEqual(errorOf(await refresh(next, { resource: notes.audience, scope: 'notes.share' })), [
    400,
    'invalid_scope',
  ])
  world.pass(11)
  assert.equal(
    (await refresh(next, { resource: notes.audience })).statusCode,
    200,
    'the rejected request consumed nothing',
  )
})

test('DEL-08 a refresh without a resource may repeat the original scope, without effect at the resource', async () => {
  const requested = 'openid notes.read offline_access'
  let { refresh_token: token } = (await redeem(await consent({ scope: requested }))).json()
  for (const scope of [requested, 'openid notes.read']) {
    const answer = await refresh(token, { scope })
    assert.equal(answer.statusCode, 200, answer.body)
    assert.equal(answer.json().scope, scope.replace(' notes.read', ''))
    token = answer.json().refresh_token
  }
  for (const scope of ['openid notes.write', 'notes.read'])
    assert.deepEqual(errorOf(await refresh(token, { scope })), [400, 'invalid_scope'], scope)
  assert.equal((await refresh(token, { scope: requested, resource: notes.audience })).json().scope, 'notes.read')
})

test('DEL-09 DEL-10 without such a resource nothing is consumed, and without a consent nothing issued', async () => {
  const code = await consent()
  for (const resource of ['https://other.example/', notes.resourceKey, `${notes.audience} ${notes.audience}`])
    assert.deepEqual(errorOf(await redeem(code, { resource })), [400, 'invalid_target'], resource)
  const twice = new URLSearchParams({ grant_type: 'authorization_code', code, redirect_uri: agent.redirectUri })
  for (const value of [notes.audience, notes.audience]) twice.append('resource', value)
  const sentTwice = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: `${twice}&client_id=${agent.clientId}&code_verifier=${verifier}`,
  })
  assert.deepEqual(errorOf(sentTwice), [400, 'invalid_target'])
  assert.equal((await redeem(code)).statusCode, 200)

  const stranger = await world.person()
  const plain = await agent.code(stranger, { codeChallenge: challenge })
  assert.deepEqual(errorOf(await redeem(plain)), [400, 'invalid_target'], 'a plain sign-in grants no resource')
  assert.equal((await redeem(plain, { resource: '' })).statusCode, 200, 'the code stays valid')
  const otherApp = await postToken(world.api, {
    ...{ grant_type: 'authorization_code', code: await consent(), redirect_uri: agent.redirectUri },
    ...{ ...notes.source.credentials, code_verifier: verifier, resource: notes.audience },
  })
  assert.deepEqual(errorOf(otherApp), [400, 'invalid_grant'], 'the code belongs to the agent')
})

test('DEL-11 a revoked delegation issues no token, and the app must ask the user again', async () => {
  const ada = await world.person()
  const { access_token: token, refresh_token: refreshToken } = (await redeem(await consent({}, ada))).json()
  const [{ id }] = await delegationsOf(world, ada)
  assert.equal((await revoke(world, ada, id)).statusCode, 204)
  assert.equal((await notes.introspect(notes.target, token)).json().active, false)
  assert.deepEqual(errorOf(await refresh(refreshToken)), [400, 'invalid_grant'])
})

test('DEL-29 a spent refresh token ends its token family, also at a resource that is refused', async () => {
  for (const resource of [notes.audience, notes.resourceKey, 'https://other.example/']) {
    const ada = await world.person()
    const { refresh_token: stolen } = (await redeem(await consent({}, ada))).json()
    const thief = (await refresh(stolen)).json()
    const [{ id }] = await delegationsOf(world, ada)
    assert.equal((await revoke(world, ada, id)).statusCode, 204)
    world.pass(11)
    assert.deepEqual(errorOf(await refresh(stolen, { resource })), [400, 'invalid_grant'], resource)
    await consent({}, ada)
    for (const fields of [{ resource: notes.audience }, {}])
      assert.deepEqual(errorOf(await refresh(thief.refresh_token, fields)), [400, 'invalid_grant'], resource)
  }
})

test('DEL-30 a code that is redeemed twice ends its tokens, also at a resource that is refused', async () => {
  for (const resource of [notes.resourceKey, 'https://other.example/']) {
    const code = await consent({ scope: 'openid notes.read offline_access' })
    const { refresh_token: refreshToken, access_token: token } = (await redeem(code, {})).json()
    const used = () => world.api.inject({ url: '/api/oauth/userinfo', headers: { authorization: `Bearer ${token}` } })
    assert.deepEqual(errorOf(await redeem(code, { resource, code_verifier: 'a'.repeat(43) })), [400, 'invalid_grant'])
    assert.equal((await used()).statusCode, 200, 'a wrong verifier revokes nothing')
    assert.deepEqual(errorOf(await redeem(code, { resource })), [400, 'invalid_grant'], resource)
    assert.equal((await used()).statusCode, 401)
    assert.deepEqual(errorOf(await refresh(refreshToken, {})), [400, 'invalid_grant'])
  }
})

test('DEL-10 a code and a refresh token stay valid while the user may not use the app of the resource', async () => {
  const ada = await world.person()
  const { refresh_token: refreshToken } = (await redeem(await consent({}, ada))).json()
  const code = await consent({}, ada)
  const setAccess = (mode: string) =>
    world.api.inject({
      method: 'PATCH',
      url: `/api/admin/apps/${notes.target.clientId}`,
      headers: world.admin,
      payload: { access: { mode } },
    })
  await setAccess('none')
  const refused = [await redeem(code), await refresh(refreshToken)]
  await setAccess('everyone')
  assert.deepEqual(refused.map(errorOf), [
    [400, 'invalid_target'],
    [400, 'invalid_grant'],
  ])
  for (const answer of refused)
    assert.equal(answer.json().error_description, 'The user has no access to the app of this resource.')
  assert.equal((await redeem(code)).statusCode, 200)
  world.pass(11)
  const { refresh_token: next } = (await refresh(refreshToken)).json()
  assert.equal((await refresh(next)).statusCode, 200, 'the refused request did not rotate the token')
})

test('DEL-18 an app that may act only while the user is present gets no refresh token', async () => {
  const given = (await redeem(await consent({ scope: 'notes.share' }, await world.person()))).json()
  assert.deepEqual([given.refresh_token, claimsOf(given.access_token).com_mode], [undefined, 'user_present'])
})

test('a request that names a resource can be pushed', async () => {
  const push = (parameters: Record<string, string>) => postForm(world.api, '/api/oauth/par', asking(parameters))
  assert.deepEqual(errorOf(await push({ resource: 'https://other.example/' })), [400, 'invalid_target'])
  assert.deepEqual(errorOf(await push({ scope: 'openid' })), [400, 'invalid_scope'])
  const pushed = await push({ scope: 'notes.write offline_access' })
  assert.equal(pushed.statusCode, 201, pushed.body)
  const { request_uri: requestUri } = pushed.json()
  const { connector } = viewIn((await show({ client_id: agent.clientId, request_uri: requestUri })).body)
  assert.equal(connector.resourceKey, notes.resourceKey)

  const ada = await world.person()
  const fields = { clientId: agent.clientId, redirectUri: agent.redirectUri, identityId: ada.identityId, requestUri }
  const agreed = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: ada.headers,
    payload: { ...fields, connector: true, requestedResource: notes.resourceKey, requestedScope: 'notes.share' },
  })
  assert.equal(agreed.statusCode, 200, agreed.body)
  const given = await redeem(new URL(agreed.json().redirectUrl).searchParams.get('code') ?? '')
  assert.equal(given.json().scope, 'notes.write', 'the pushed scope counts')
})

test('an app that may act while the user is present gets a code only after recent use of the passkey', async () => {
  const ada = await world.person()
  const present = { scope: 'notes.read' }
  const first = await redeem(await consent(present, ada))
  assert.equal(first.statusCode, 200, first.body)

  world.pass(3600 - 61)
  const inTime = codeIn(await sendConsent(present, ada))
  world.pass(59)
  assert.equal((await redeem(inTime)).statusCode, 200)
  for (const prompt of ['consent', 'none'])
    assert.deepEqual(errorOf(await sendConsent({ ...present, prompt }, ada)), [
      403,
      prompt === 'none' ? 'login_required' : 'reauthentication_required',
    ])
  const again = { ...ada, headers: await ada.signIn() }
  assert.equal((await redeem(await consent(present, again))).statusCode, 200)

  world.pass(2 * 3600)
  await consent({ scope: 'notes.read offline_access' }, again)
  assert.equal((await redeem(await consent(present, again))).statusCode, 200, 'it may also act in the background')
})
