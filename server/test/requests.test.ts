import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, newChallenge, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const register = '/api/auth/register/start'
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const contents: { headers: Record<string, string>; payload: string }[] = [
  { headers: form, payload: 'grant_type=refresh_token' },
  { headers: { 'content-type': 'application/json' }, payload: '{"grant_type":' },
  { headers: { 'content-type': 'application/json' }, payload: `"${'a'.repeat(100_000)}"` },
  { headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: 'x' },
  { headers: {}, payload: 'x' },
  { headers: {}, payload: '' },
]

test('HTP-02 a wrong host, path or method is reported before the body is read', async () => {
  const refusalOf = async (
    host: TestWorld['api'],
    method: 'POST' | 'PUT',
    url: string,
    content: (typeof contents)[number],
  ) => {
    const answer = await host.inject({ method, url, ...content })
    return [answer.statusCode, answer.json().error]
  }
  for (const content of contents) {
    const misdirected = [421, 'misdirected_request']
    assert.deepEqual(await refusalOf(world.auth, 'POST', '/api/oauth/token', content), misdirected)
    assert.deepEqual(await refusalOf(world.business, 'POST', '/api/oauth/token', content), misdirected)
    assert.deepEqual(await refusalOf(world.auth, 'PUT', '/api/oauth/token', content), misdirected)
    assert.deepEqual(await refusalOf(world.api, 'PUT', '/api/oauth/token', content), [405, 'method_not_allowed'])
    for (const path of ['/api/oauth/token/', '/api/oauth/device_authorization', '/API/oauth/token', '/nothing'])
      assert.deepEqual(await refusalOf(world.api, 'POST', path, content), [404, 'not_found'], path)
  }
  const { headers } = await world.api.inject({ method: 'PUT', url: '/api/oauth/token', ...contents[0] })
  assert.equal(headers['allow'], 'POST')
})

test('HTP-03 a parameter without a value counts as omitted at the token endpoint', async () => {
  const person = await world.person()
  const [app, open] = [await world.app(), await world.app({ public: true })]
  const empty = { code_verifier: '', resource: '', scope: '', clientSecret: '', codeVerifier: '' }
  const first = await app.redeem(await app.code(person), empty)
  assert.equal(first.statusCode, 200, first.body)
  const refreshed = (await app.refresh(first.json().refresh_token, { scope: '', resource: '' })).json()
  assert.equal(refreshed.scope, first.json().scope, 'an empty scope counts as omitted')
  assert.ok(refreshed.id_token !== undefined && refreshed.refresh_token !== undefined)

  const byJson = { scope: null, client_secret: app.credentials.client_secret, code_verifier: null, resource: null }
  const fields = { ...app.credentials, grant_type: 'refresh_token', refresh_token: refreshed.refresh_token, ...byJson }
  const third = await world.api.inject({ method: 'POST', url: '/api/oauth/token', payload: fields })
  assert.equal(third.json().scope, refreshed.scope, third.body)

  const { verifier, challenge } = newChallenge()
  for (const secretless of [{ client_secret: '' }, {}]) {
    const code = await open.code(person, { codeChallenge: challenge })
    const redeemed = await open.redeem(code, { code_verifier: verifier, ...secretless })
    assert.equal(redeemed.statusCode, 200, redeemed.body)
  }
  const { client_id: clientId } = open.credentials
  const authorization = `Basic ${Buffer.from(`${clientId}:`).toString('base64')}`
  const code = await open.code(person, { codeChallenge: challenge })
  const redemption = { grant_type: 'authorization_code', code, redirect_uri: open.redirectUri, code_verifier: verifier }
  const byHeader = await postToken(world.api, redemption, { authorization })
  assert.equal(byHeader.statusCode, 200, byHeader.body)

  const stranger = `Basic ${Buffer.from(`${app.credentials.client_id}:`).toString('base64')}`
  const unproved = { grant_type: 'refresh_token', refresh_token: third.json().refresh_token }
  const refused = await postToken(world.api, unproved, { authorization: stranger })
  assert.deepEqual([refused.statusCode, refused.json().error], [401, 'invalid_client'])
})

test('HTP-03 a required field that is null or empty counts as missing', async () => {
  for (const handle of [null, '', undefined]) {
    const payload = { handle, displayName: 'Alice' }
    const answer = await world.api.inject({ method: 'POST', url: '/api/auth/register/start', payload })
    assert.deepEqual([answer.statusCode, answer.json().error_description], [400, 'handle is missing.'])
  }
  for (const grant of [null, '']) {
    const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/token', payload: { grant_type: grant } })
    assert.deepEqual([answer.statusCode, answer.json().error_description], [400, 'grant_type is missing.'])
  }
})

test('HTP-03 the description of a wrong field says where it is, and what it must be', async () => {
  const valid = { apiVersion: 'countersign/v1', source: 'platform' }
  for (const [document, description] of [
    [{ ...valid, apiVersion: 'countersign/v2' }, 'document.apiVersion must be countersign/v1.'],
    [{ ...valid, groups: [{ key: 'one', displayName: 'One', foo: 1 }] }, 'document.groups.0.foo is not a field'],
    [{ ...valid, groups: [{ displayName: 'One' }] }, 'document.groups.0.key is missing.'],
  ] as const) {
    const payload = { document, dryRun: true }
    const answer = await world.api.inject({ method: 'POST', url: '/api/admin/apply', headers: world.admin, payload })
    assert.equal(answer.statusCode, 400)
    assert.ok(answer.json().error_description.startsWith(description), answer.body)
  }
})

test('HTP-03 null and empty texts count as omitted in a signing request, and null stays in its metadata', async () => {
  const ada = await createSigner(world)
  const shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  const requested = { metadata: null, expiresInSeconds: null, organizationId: '' }
  const opened = await shop.request(ada.identityId, requested)
  assert.equal(opened.statusCode, 201, opened.body)
  assert.equal(Date.parse(opened.json().expiresAt), world.now().getTime() + 300_000)
  const noted = await shop.request(ada.identityId, { metadata: { order: null, note: '' } })
  assert.equal(noted.statusCode, 201, noted.body)
  const kept = world.db.selectFrom('signing_request').select('metadata')
  const { metadata } = await kept.where('request_id', '=', noted.json().requestId).executeTakeFirstOrThrow()
  assert.equal(metadata, '{"order":null,"note":""}')
})

test('HTP-03 creating an app ignores null, and changing a field to null clears it', async () => {
  const ask = (method: 'POST' | 'PATCH', url: string, payload: object) =>
    world.api.inject({ method, url, headers: world.admin, payload })
  const named = { name: 'An app', redirectUris: ['https://app.example/callback'], description: 'What it does' }
  const created = await ask('POST', '/api/admin/apps', { ...named, iconUrl: null, websiteUrl: '', allowedScopes: null })
  assert.equal(created.statusCode, 201, created.body)
  const url = `/api/admin/apps/${created.json().clientId}`
  const changed = await ask('PATCH', url, { description: null })
  assert.deepEqual([changed.statusCode, changed.json().description], [200, null])
  const refused = await ask('PATCH', url, { name: null })
  assert.equal(refused.statusCode, 400, 'a name cannot be removed')
})

test('HTP-03 empty query parameters count as omitted', async () => {
  const { access_token: token } = await (await world.app()).tokens(await world.person())
  const headers = { authorization: `Bearer ${token}` }
  const answer = await world.api.inject({ url: '/api/oauth/organizations?client_id=', headers })
  assert.equal(answer.statusCode, 200, answer.body)
})

test('HTP-05 the longest text to sign is accepted in every spelling, with the largest metadata', async () => {
  const ada = await createSigner(world)
  const app = await world.app({ name: 'Shop' })
  const { client_id: clientId, client_secret: clientSecret } = app.credentials
  const metadata = { note: 'x'.repeat(12_000) }
  const body = JSON.stringify({
    clientId,
    clientSecret,
    identityId: ada.identityId,
    payload: '😀'.repeat(10_000),
    metadata,
  })
  const escaped = body.replaceAll(/[\ud800-\udfff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)
  assert.ok(escaped.length > 130_000)
  const ask = (payload: string) =>
    world.api.inject({
      method: 'POST',
      url: '/api/signing/request',
      headers: { 'content-type': 'application/json' },
      payload,
    })
  for (const payload of [body, escaped]) {
    const answer = await ask(payload)
    assert.equal(answer.statusCode, 201, answer.body)
  }
  const larger = await ask(escaped.padEnd(256 * 1024 + 1))
  assert.deepEqual([larger.statusCode, larger.json().error], [413, 'payload_too_large'])
})

test('HTP-01 a body that is not UTF-8 is rejected, as JSON and as a form, in bytes and in escapes', async () => {
  const post = async (url: string, type: string, payload: Buffer | string) => {
    const answer = await world.api.inject({ method: 'POST', url, headers: { 'content-type': type }, payload })
    return [answer.statusCode, answer.json().error, answer.json().error_description]
  }
  const broken = Buffer.concat([
    Buffer.from('{"handle":"alice","displayName":"Al'),
    Buffer.of(0xc3, 0x28),
    Buffer.from('"}'),
  ])
  const refusal = [400, 'invalid_request', 'The request body is not valid UTF-8.']
  assert.deepEqual(await post(register, 'application/json', broken), refusal)
  for (const wrong of ['a=%ff', 'a=%C3', 'a=%ED%A0%80', '%80=a', 'a=%EF%BF%BD&b=%f8', Buffer.from('a=\xff', 'latin1')])
    assert.deepEqual(await post('/api/oauth/token', form['content-type'], wrong), refusal, String(wrong))
  const [, , description] = await post(
    '/api/oauth/token',
    form['content-type'],
    'a=%EF%BF%BD&b=%C3%A9%F0%9F%98%80&c=100%',
  )
  assert.equal(description, 'grant_type is missing.')
})

test('INJ-14 HTP-04 a UUID is accepted in any case, and a malformed one is not found without a query', async () => {
  const person = await world.person()
  const id = person.identityId
  const at = (text: string) =>
    world.api.inject({ url: `/api/identities/${encodeURIComponent(text)}`, headers: person.headers })
  const unknown = (await at(randomUUID())).json()
  for (const wrong of [
    `{${id}}`,
    id.replaceAll('-', ''),
    `${id}0`,
    `urn:uuid:${id}`,
    "' or 1=1 --",
    '٣'.repeat(36),
    '\0',
    'x'.repeat(1900),
  ]) {
    const answer = await at(wrong)
    assert.deepEqual([answer.statusCode, answer.json()], [404, unknown], wrong)
  }
  assert.equal(unknown.error, 'identity_not_found')
  for (const right of [id, id.toUpperCase()]) assert.equal((await at(right)).json().identityId, id)
})

test('HTP-04 a malformed ID in a path is answered like an unknown one', async () => {
  const { headers } = await world.person()
  const unknown = randomUUID()
  const routes: [path: (id: string) => string, other: string, headers: Record<string, string>][] = [
    [(id) => `/api/signing/public-key/${id}`, 'nobody-has-this', {}],
    [(id) => `/api/encryption/identity-key/${id}`, 'nobody-has-this', {}],
    [(id) => `/api/signing/keys/${id}`, unknown, headers],
    [(id) => `/api/signing/requests/${id}`, unknown, headers],
    [(id) => `/api/oauth/delegations/${id}/uses`, unknown, headers],
    [(id) => `/api/transparency/identities/${id}`, unknown, {}],
    [(id) => `/api/admin/apps/${id}`, unknown, world.admin],
    [(id) => `/api/sso/${id}/metadata`, unknown, {}],
  ]
  for (const [path, other, sent] of routes) {
    const get = (id: string) => world.api.inject({ url: path(id), headers: sent })
    const expected = await get(other)
    for (const id of ['x', 'no%20such%20one', '@ada', '%00', 'A'.repeat(500)]) {
      const answer = await get(id)
      assert.deepEqual([answer.statusCode, answer.body], [expected.statusCode, expected.body], path(id))
    }
  }
})

test('HTP-04 a malformed identityId in a body is answered like an unknown identity', async () => {
  const app = await world.app()
  const person = await world.person()
  const credentials = { clientId: app.credentials.client_id, clientSecret: app.credentials.client_secret }
  const ask = async (identityId: unknown) => {
    const payload = { ...credentials, payload: 'Pay', identityId }
    const answer = await world.api.inject({ method: 'POST', url: '/api/signing/request', payload })
    return [answer.statusCode, answer.json().error]
  }
  for (const wrong of ['does-not-exist', `${person.identityId}0`])
    assert.deepEqual(await ask(wrong), [404, 'identity_not_found'])
  assert.deepEqual(await ask(7), [400, 'invalid_request'])
  assert.deepEqual(await ask(person.identityId.toUpperCase()), [422, 'no_signing_key'], 'this one exists')
})
