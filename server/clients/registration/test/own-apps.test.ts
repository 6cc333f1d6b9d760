import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { App } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, type SessionId, asId } from '@countersign/protocol/ids'
import { addIdentity } from '#testing/people.ts'
import { createWorld, postToken, type Person, type TestWorld } from '#testing/world.ts'
import { createApp } from '#clients/registration/app.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
type Headers = Record<string, string>
type Body = App & {
  clientSecret: string
  apps: App[] | number
  sessions: { sessionId: SessionId }[]
  error: string
}

const plain = { name: 'Ledger', redirectUris: ['https://ledger.example/callback'] }

async function send(method: Method, url: string, headers: Headers, payload?: object) {
  const answer = await world.api.inject({ method, url, headers, ...(payload && { payload }) })
  return { status: answer.statusCode, body: answer.body === '' ? undefined : answer.json<Body>() }
}
const portal = (method: Method, path: string, { headers }: Pick<Person, 'headers'>, payload?: object) =>
  send(method, `/api/developer/apps${path}`, headers, payload)
const admin = (method: Method, path: string, payload?: object) =>
  send(method, `/api/admin/apps${path}`, world.admin, payload)
const refusal = ({ status, body }: Awaited<ReturnType<typeof send>>) => [status, body?.error]

async function register(person: Person, settings: object = {}) {
  const { status, body } = await portal('POST', '', person, { ...plain, ...settings })
  assert.ok(status === 201 && body, JSON.stringify(body))
  return body
}

async function namesOf(person: Person): Promise<string[]> {
  const { apps = [] } = (await portal('GET', '', person)).body ?? {}
  assert.ok(Array.isArray(apps))
  return apps.map(({ name }) => name)
}

/** Returns the token endpoint's error for a client. With a correct secret the error concerns the code. */
async function errorFor(clientId: ClientId, clientSecret: string): Promise<string> {
  const fields = { grant_type: 'authorization_code', code: 'none', redirect_uri: 'https://ledger.example/callback' }
  return (await postToken(world.api, { ...fields, client_id: clientId, client_secret: clientSecret })).json().error
}

test('OWN-07 of changes that name one version of an app, one is made and the others are refused', async () => {
  const [ada, other] = [await world.person(), await world.person()]
  const { clientId, version } = await register(ada, { description: 'Keeps the books.' })
  const url = `/api/developer/apps/${clientId}`
  const change = (redirectUri: string, based: string, by = ada) =>
    world.api.inject({
      ...{ method: 'PATCH', url, headers: { ...by.headers, 'if-match': `"${based}"` } },
      payload: { redirectUris: [...plain.redirectUris, redirectUri] },
    })
  const answers = await Promise.all(['one', 'two', 'three'].map((name) => change(`https://${name}.example/`, version)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 412, 412])
  const made = answers.find(({ statusCode }) => statusCode === 200)
  for (const late of answers.filter((each) => each !== made)) assert.equal(late.json().error, 'version_mismatch')

  const read = await world.api.inject({ url, headers: ada.headers })
  const app = read.json<Body>()
  assert.deepEqual(made?.json(), app)
  assert.notEqual(app.version, version)
  assert.equal(read.headers['etag'], `"${app.version}"`)
  assert.equal(made?.headers['etag'], `"${app.version}"`)
  const [listed] = (await world.api.inject({ url: '/api/developer/apps', headers: ada.headers })).json<{
    apps: App[]
  }>().apps
  assert.equal(listed?.version, app.version)

  assert.equal((await change('https://four.example/', app.version)).statusCode, 200)
  assert.equal((await change('https://five.example/', '1')).statusCode, 400, 'it is no version')
  assert.deepEqual((await change('https://six.example/', app.version, other)).json().error, 'app_not_found')
  assert.equal((await portal('PATCH', `/${clientId}`, ada, { name: 'Cash book' })).status, 200, 'any version')
})

test('a user registers an app, reads it, changes it, rotates its secret and deletes it', async () => {
  const ada = await world.person()
  const { clientId, clientSecret, ...settings } = await register(ada)
  assert.match(clientId, /^app_[0-9a-f]{32}$/)
  assert.equal(settings.ownerIdentityId, ada.identityId)
  assert.deepEqual((await portal('GET', `/${clientId}`, ada)).body, { clientId, ...settings })
  assert.deepEqual((await admin('GET', `/${clientId}`)).body, { clientId, ...settings })
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_grant')

  const changed = await portal('PATCH', `/${clientId}`, ada, { name: 'Cash book', idTokenSignedResponseAlg: 'ES256' })
  assert.deepEqual(
    [changed.status, changed.body?.name, changed.body?.idTokenSignedResponseAlg],
    [200, 'Cash book', 'ES256'],
  )
  assert.deepEqual(await namesOf(ada), ['Cash book'])

  const rotated = await portal('POST', `/${clientId}/secret`, ada, { graceSeconds: 60 })
  assert.equal(rotated.status, 201)
  for (const secret of [clientSecret, rotated.body?.clientSecret ?? ''])
    assert.equal(await errorFor(clientId, secret), 'invalid_grant')
  world.pass(60)
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_client')

  assert.deepEqual(await portal('DELETE', `/${clientId}`, ada), { status: 204, body: undefined })
  assert.deepEqual(refusal(await portal('GET', `/${clientId}`, ada)), [404, 'app_not_found'])
  assert.deepEqual(await namesOf(ada), [])
})

test('users sign in to an app that a user registered', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const { clientId, clientSecret } = await register(ada)
  const [redirectUri = ''] = plain.redirectUris
  const consent = { clientId, redirectUri, identityId: eve.identityId, scope: 'openid profile' }
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: eve.headers,
    payload: consent,
  })
  const code = new URL(answer.json<{ redirectUrl: string }>().redirectUrl).searchParams.get('code') ?? ''
  const client = { client_id: clientId, client_secret: clientSecret }
  const tokens = await postToken(world.api, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    ...client,
  })
  assert.equal(tokens.statusCode, 200, tokens.body)
})

test('OWN-01 an app of another user or of the operator is not found, like an unknown one', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const { clientId, clientSecret } = await register(ada)
  const before = (await portal('GET', `/${clientId}`, ada)).body
  const { clientId: operators } = await world.app()

  for (const foreign of [clientId, operators, 'app_playground', 'app_none']) {
    const attempts = [
      await portal('GET', `/${foreign}`, eve),
      await portal('PATCH', `/${foreign}`, eve, { redirectUris: ['https://evil.example/'] }),
      await portal('POST', `/${foreign}/secret`, eve, {}),
      await portal('DELETE', `/${foreign}`, eve),
    ]
    for (const attempt of attempts) assert.deepEqual(refusal(attempt), [404, 'app_not_found'])
  }
  assert.deepEqual(await namesOf(eve), [])
  assert.deepEqual((await portal('GET', `/${clientId}`, ada)).body, before)
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_grant')
})

test('OWN-01 neither the response nor an old session tells an unknown app from another user’s', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const { clientId } = await register(ada)
  world.pass(limits.freshAuthenticationSeconds + 1)
  for (const each of [clientId, 'app_none'])
    assert.deepEqual(await portal('DELETE', `/${each}`, eve), {
      status: 404,
      body: { error: 'app_not_found', error_description: 'App not found.' },
    })
})

test('OWN-01 an app belongs to the user who registers it, whatever the body says', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const named = await portal('POST', '', eve, { ...plain, ownerUserId: ada.userId })
  assert.equal(named.status, 400)
  const { clientId } = await register(eve)
  assert.equal((await portal('PATCH', `/${clientId}`, eve, { ownerUserId: ada.userId })).status, 400)
  assert.deepEqual([await namesOf(ada), await namesOf(eve)], [[], ['Ledger']])
})

test('OWN-01 OPR-10 the operator sees the identity as which a user registered an app, and no other', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const identityId = await addIdentity(world, ada, { handle: 'ada-at-work', displayName: 'Ada' })
  const { clientId } = await register(ada, { identityId })
  const { clientId: other } = await register(ada)
  const ownerOf = async (id: string) => (await admin('GET', `/${id}`)).body?.ownerIdentityId
  assert.deepEqual([await ownerOf(clientId), await ownerOf(other)], [identityId, ada.identityId])
  const answer = JSON.stringify((await admin('GET', '')).body)
  assert.ok(!answer.includes(ada.userId))
  assert.deepEqual(refusal(await portal('POST', '', eve, { ...plain, identityId })), [404, 'identity_not_found'])
  assert.equal((await admin('POST', '', { ...plain, identityId })).status, 400)

  assert.equal((await send('DELETE', `/api/identities/${identityId}`, ada.headers)).status, 204)
  assert.deepEqual([await ownerOf(clientId), await ownerOf(other)], [null, ada.identityId])
  assert.deepEqual(await namesOf(ada), ['Ledger', 'Ledger'], 'the apps stay')
})

test('OWN-02 changes that give an app away or end it require recent authentication', async () => {
  const ada = await world.person()
  const { clientId, clientSecret } = await register(ada)
  const elsewhere = { redirectUris: ['https://elsewhere.example/'] }
  world.pass(limits.freshAuthenticationSeconds + 1)
  const attempts = [
    await portal('POST', `/${clientId}/secret`, ada, {}),
    await portal('PATCH', `/${clientId}`, ada, { name: 'Renamed', ...elsewhere }),
    await portal('DELETE', `/${clientId}`, ada),
  ]
  for (const answer of attempts) assert.deepEqual(refusal(answer), [403, 'reauthentication_required'])
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_grant')
  assert.deepEqual(await namesOf(ada), ['Ledger'])
  assert.equal((await portal('PATCH', `/${clientId}`, ada, { name: 'Still mine' })).status, 200)

  const headers = await ada.signIn()
  assert.equal((await portal('PATCH', `/${clientId}`, { headers }, elsewhere)).status, 200)
  assert.equal((await portal('POST', `/${clientId}/secret`, { headers }, {})).status, 201)
  assert.equal((await portal('DELETE', `/${clientId}`, { headers })).status, 204)
})

test('OWN-03 a user has a limited number of apps, also under concurrency', async () => {
  const ada = await world.person()
  const at = { authTime: world.now(), provedRequestSha256: null, expiresAt: world.now(), userAgent: null }
  const listed = await send('GET', '/api/auth/sessions', ada.headers)
  const [{ sessionId } = { sessionId: asId<SessionId>('') }] = listed.body?.sessions ?? []
  const session = { sessionId, userId: ada.userId, authMethod: 'passkey', ...at } as const
  const manager = { actor: 'user', session } as const
  for (let count = 0; count < limits.appsPerUserMax - 2; count += 1)
    await createApp(
      world.kernel,
      { manager, isPublic: true },
      { name: `App ${count}`, redirectUris: ['https://a.example/'] },
      world.now(),
    )

  const answers = await Promise.all(Array.from({ length: 6 }, () => portal('POST', '', ada, plain)))
  const statuses = answers.map(({ status }) => status)
  assert.deepEqual(statuses.toSorted(), [201, 201, 409, 409, 409, 409])
  for (const answer of answers.filter(({ status }) => status === 409))
    assert.deepEqual(refusal(answer), [409, 'too_many_apps'])
  assert.equal((await namesOf(ada)).length, limits.appsPerUserMax)

  const made = answers.find(({ status }) => status === 201)?.body?.clientId
  assert.equal((await portal('DELETE', `/${made}`, ada)).status, 204)
  await register(ada)
})

test('OWN-04 an owner cannot enable an app that the operator has disabled', async () => {
  const ada = await world.person()
  const { clientId, clientSecret } = await register(ada)
  await portal('PATCH', `/${clientId}`, ada, { status: 'disabled' })
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_client')
  assert.equal((await portal('PATCH', `/${clientId}`, ada, { status: 'active' })).status, 200)

  await admin('PATCH', `/${clientId}`, { status: 'disabled' })
  for (const change of [{ status: 'active' }, { status: 'active', name: 'Another' }])
    assert.deepEqual(refusal(await portal('PATCH', `/${clientId}`, ada, change)), [403, 'disabled_by_operator'])
  for (const change of [{ status: 'disabled' }, { name: 'Renamed' }])
    assert.equal((await portal('PATCH', `/${clientId}`, ada, change)).body?.status, 'disabled')
  assert.deepEqual(refusal(await portal('PATCH', `/${clientId}`, ada, { status: 'active' })), [
    403,
    'disabled_by_operator',
  ])
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_client')

  await admin('PATCH', `/${clientId}`, { status: 'active' })
  assert.equal(await errorFor(clientId, clientSecret), 'invalid_grant')
  await portal('PATCH', `/${clientId}`, ada, { status: 'disabled' })
  assert.equal((await portal('PATCH', `/${clientId}`, ada, { status: 'active' })).status, 200)
})

test('OWN-06 changes of apps are limited per user and hour and do not affect other users', async (t) => {
  const limited = await createWorld({ rateLimits: true })
  t.after(() => limited.close())
  const [ada, eve] = [await limited.person(), await limited.person()]
  const rename = ({ headers }: Pick<Person, 'headers'>) =>
    limited.api.inject({ method: 'PATCH', url: '/api/developer/apps/app_1', headers, payload: { name: 'Again' } })
  const answers: { statusCode: number }[] = []
  for (let nth = 0; nth < 80; nth += 1) answers.push(await rename(ada))
  const passed = answers.filter(({ statusCode }) => statusCode === 404)
  assert.equal(passed.length, 36, 'half of sixty for a session, and six with recent authentication')
  const refused = await rename(ada)
  assert.deepEqual([refused.statusCode, refused.json().error], [429, 'rate_limited'])
  const read = await limited.api.inject({ url: '/api/developer/apps', headers: ada.headers })
  assert.deepEqual([read.statusCode, (await rename(eve)).statusCode], [200, 404])
  limited.pass(3600)
  assert.equal((await rename(ada)).statusCode, 404)
})

test('every change is in the audit log once, as its owner’s, and the owner reads it', async () => {
  const ada = await world.person()
  const { clientId, clientSecret } = await register(ada)
  await portal('PATCH', `/${clientId}`, ada, { name: 'Renamed' })
  const { body } = await portal('POST', `/${clientId}/secret`, ada, { graceSeconds: 5 })
  await portal('DELETE', `/${clientId}`, ada)
  const rows = await world.db
    .selectFrom('audit_event')
    .select(['action', 'actor', 'user_id as userId', 'details'])
    .where('client_id', '=', clientId)
    .orderBy('event_id')
    .execute()
  const mine = { actor: 'user', userId: ada.userId }
  assert.deepEqual(rows, [
    { action: 'app.created', ...mine, details: {} },
    { action: 'app.updated', ...mine, details: { changed: ['name'] } },
    { action: 'app.secret.rotated', ...mine, details: { graceSeconds: 5 } },
    { action: 'app.deleted', ...mine, details: {} },
  ])
  const activity = await world.api.inject({ url: '/api/account/activity', headers: ada.headers })
  assert.match(activity.body, /app\.deleted/)
  for (const secret of [clientSecret, body?.clientSecret ?? '']) assert.ok(!activity.body.includes(secret))
})

test('what is rejected for the operator is rejected for users too', async () => {
  const ada = await world.person()
  const attempts: [object, string][] = [
    [{ redirectUris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ name: 'Bank\u202egro.live' }, 'invalid_request'],
    [{ allowedScopes: ['everything'] }, 'invalid_request'],
    [{ clientId: 'app_playground' }, 'invalid_request'],
  ]
  for (const [settings, error] of attempts)
    assert.deepEqual(refusal(await portal('POST', '', ada, { ...plain, ...settings })), [400, error])
  assert.deepEqual(await namesOf(ada), [])
})

test('an app registered while its owner’s account is deleted is deleted too, or never created', async () => {
  for (let round = 0; round < 6; round += 1) {
    const ada = await world.person()
    const [deleted, ...made] = await Promise.all([
      send('DELETE', '/api/account?apps=delete', ada.headers),
      ...Array.from({ length: 3 }, () => portal('POST', '', ada, plain)),
    ])
    assert.equal(deleted.status, 204)
    for (const { status } of made) assert.ok(status === 201 || status === 401, String(status))
    const left = await world.db.selectFrom('app').selectAll().where('owner_user_id', '=', ada.userId).execute()
    assert.deepEqual(left, [])
  }
})

test('without the developer portal its endpoints are neither served nor listed, and existing apps work', async (t) => {
  const quiet = await createWorld({ environment: { DEVELOPER_PORTAL: 'off' } })
  t.after(() => quiet.close())
  const ada = await quiet.person()
  const attempts: [Method, string][] = [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/app_1'],
    ['PATCH', '/app_1'],
    ['DELETE', '/app_1'],
    ['POST', '/app_1/secret'],
  ]
  for (const [method, path] of attempts) {
    const answer = await quiet.api.inject({
      method,
      url: `/api/developer/apps${path}`,
      headers: ada.headers,
      ...(method !== 'GET' && { payload: plain }),
    })
    assert.deepEqual([answer.statusCode, answer.json().error], [404, 'not_found'], `${method} ${path}`)
  }
  const reference = await quiet.api.inject({ url: '/openapi.json' })
  assert.doesNotMatch(reference.body, /developer/i)
  const here = await world.api.inject({ url: '/openapi.json' })
  assert.match(here.body, /"\/api\/developer\/apps\/\{clientId\}\/secret"/)
})

test('APS-20 no other field in a change removes its need for recent authentication', async () => {
  const ada = await world.person()
  const { clientId } = await register(ada)
  world.pass(limits.freshAuthenticationSeconds + 1)
  const changes = {
    redirectUris: ['https://elsewhere.example/'],
    allowAnyLoopbackPort: false,
    backchannelLogoutUri: 'https://elsewhere.example/out',
  }
  const none = { backchannelLogoutUri: null }
  for (const change of [none, ...Object.entries(changes).map(([name, value]) => ({ [name]: value }))])
    for (const others of [{}, { allowAnyLoopbackPort: false }, { name: 'Renamed', supportsE2ee: false }, none])
      assert.deepEqual(refusal(await portal('PATCH', `/${clientId}`, ada, { ...others, ...change })), [
        403,
        'reauthentication_required',
      ])
  const { body } = await portal('GET', `/${clientId}`, ada)
  assert.deepEqual([body?.name, body?.redirectUris, body?.backchannelLogoutUri], ['Ledger', plain.redirectUris, null])
})
