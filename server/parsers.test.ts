import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createWorld, type World } from '#testing/world.ts'

let world: World
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const register = '/api/auth/register/start'
const json = { 'content-type': 'application/json' }
const send = (payload: string, headers: Record<string, string> = json) =>
  world.api.inject({ method: 'POST', url: register, headers, payload })
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

const refused: Record<string, string> = {
  'INJ-03 an object 34 levels deep': deep(34),
  'INJ-03 an object 5,000 levels deep': deep(5000),
  'INJ-03 a number out of range': '{"handle":"alice","displayName":"Alice","n":1e400}',
  'INJ-03 a trailing comma': '{"handle":"alice",}',
  'INJ-03 a byte order mark': '\ufeff{"handle":"alice","displayName":"Alice"}',
  'INJ-04 null': 'null',
  'INJ-04 an array': '[]',
  'INJ-04 a text': '"alice"',
  'INJ-04 a number': '7',
  'INJ-02 a key that reaches the prototype': '{"__proto__":{"polluted":1},"handle":"alice","displayName":"Alice"}',
  'INJ-11 a number for a text': '{"handle":12345,"displayName":"Alice"}',
  'INJ-11 a list of one': '{"handle":["alice"],"displayName":"Alice"}',
  'U+0000': '{"handle":"alice","displayName":"A\\u0000"}',
  'half of a character': '{"handle":"alice","displayName":"A\\ud800"}',
}
for (const [what, payload] of Object.entries(refused))
  test(`${what} is refused by name, and the next request is served`, async () => {
    const answer = await send(payload)
    assert.equal(answer.statusCode, 400, answer.body)
    assert.equal(answer.json().error, 'invalid_request')
    assert.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    assert.equal((await world.api.inject({ url: '/readyz' })).statusCode, 200)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

test('LOD-03 a body over 64 KiB is refused', async () => {
  const answer = await send(JSON.stringify({ handle: 'alice', displayName: 'a'.repeat(64 * 1024) }))
  assert.equal(answer.statusCode, 413)
  assert.equal(answer.json().error, 'payload_too_large')
})

test('INJ-01 another content type is refused, and never read past its schema', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
  ]) {
    const answer = await send('{"handle":"alice","displayName":"Alice"}', { 'content-type': type })
    assert.equal(answer.statusCode, 415, type)
    assert.equal(answer.json().error, 'unsupported_media_type')
  }
  for (const type of [
    'application/json\ta',
    ' application/json',
    'APPLICATION/JSON',
    'application/json;charset=utf-7',
  ]) {
    const answer = await send('{"handle":7}', { 'content-type': type })
    assert.ok([400, 415].includes(answer.statusCode), `${type}: ${answer.statusCode}`)
  }
})

test('INJ-14 INJ-08 what is not a UUID never reaches the database', async () => {
  const person = await world.person()
  const id = person.identityId
  for (const wrong of [
    `{${id}}`,
    id.toUpperCase(),
    id.replaceAll('-', ''),
    `${id}0`,
    `urn:uuid:${id}`,
    '%00',
    "' or 1=1 --",
    '٣'.repeat(36),
  ]) {
    const answer = await world.api.inject({
      url: `/api/identities/${encodeURIComponent(wrong)}`,
      headers: person.headers,
    })
    assert.ok([400, 404].includes(answer.statusCode), `${wrong}: ${answer.body}`)
  }
  assert.equal((await world.api.inject({ url: `/api/identities/${id}`, headers: person.headers })).statusCode, 200)
})

test('INJ-12 fifty thousand characters that a pattern could stumble over are answered at once', async () => {
  const app = await world.app()
  const person = await world.person()
  const long = 50_000
  const texts = ['a', 'a-', 'a.', 'a@', '@', ' ', '%2e', '-', 'https://a.', '\u0301', 'ﷺ', '\u200b', '=', 'A=', 'é.']
  const evil = texts.map((text) => text.repeat(long / text.length / 3) + '!')
  const session = { ...json, ...person.headers }
  const form = (fields: Record<string, string>) => new URLSearchParams({ ...app.credentials, ...fields }).toString()
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' }
  const identity = `/api/identities/${person.identityId}`
  const asked = (
    text: string,
  ): { method: 'POST' | 'PATCH' | 'GET'; url: string; headers: object; payload?: string }[] => [
    { method: 'POST', url: register, headers: json, payload: JSON.stringify({ handle: text, displayName: 'A' }) },
    { method: 'POST', url: register, headers: json, payload: JSON.stringify({ handle: 'alice', displayName: text }) },
    { method: 'PATCH', url: identity, headers: session, payload: JSON.stringify({ avatarUrl: text }) },
    { method: 'POST', url: `${identity}/email`, headers: session, payload: JSON.stringify({ email: text }) },
    {
      method: 'POST',
      url: '/api/admin/apps',
      headers: { ...json, ...world.admin },
      payload: JSON.stringify({ name: 'A', redirectUris: [text], websiteUrl: text }),
    },
    {
      method: 'POST',
      url: '/api/oauth/token',
      headers: asForm,
      payload: form({ grant_type: 'authorization_code', code: 'x', redirect_uri: 'y', code_verifier: text }),
    },
    {
      method: 'POST',
      url: '/api/oauth/token',
      headers: asForm,
      payload: form({ grant_type: 'refresh_token', refresh_token: text, scope: text }),
    },
    { method: 'GET', url: '/api/auth/session', headers: { authorization: `Bearer ${encodeURIComponent(text)}` } },
    { method: 'GET', url: '/api/auth/session', headers: { authorization: `Bearer ${' '.repeat(long)}\u0001` } },
    { method: 'POST', url: '/api/oauth/token', headers: { ...asForm, authorization: `Basic ${'A='.repeat(long)}` } },
  ]
  for (const text of evil)
    for (const request of asked(text)) {
      let fastest = Infinity
      for (let attempt = 0; attempt < 5 && fastest > 20; attempt += 1) {
        const startedAt = performance.now()
        const { statusCode, body } = await world.api.inject({ ...request, headers: { ...request.headers } })
        fastest = Math.min(fastest, performance.now() - startedAt)
        assert.ok(statusCode >= 400 && statusCode < 500, `${request.url}: ${statusCode} ${body.slice(0, 200)}`)
      }
      assert.ok(fastest < 20, `${request.method} ${request.url} of ${text.slice(0, 12)}…: ${fastest} ms`)
    }
})

test('INJ-07 a query parameter that comes twice or as an object is refused', async () => {
  const resource = encodeURIComponent('acct:alice@localhost:4401')
  for (const query of [
    `resource=${resource}&resource=${resource}`,
    `resource[a]=${resource}`,
    `resource[]=${resource}`,
    'resource=%00',
  ])
    assert.equal((await world.auth.inject({ url: `/.well-known/webfinger?${query}` })).statusCode, 400, query)
})

test('TOK-06 TOK-09 a token request has each parameter once, in the body', async () => {
  const app = await world.app()
  const person = await world.person()
  const code = await app.code(person)
  const fields = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: app.redirectUri,
    ...app.credentials,
  })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const post = (url: string, payload: string, headers: Record<string, string> = form) =>
    world.api.inject({ method: 'POST', url, headers, payload })

  const twice = await post('/api/oauth/token', `${fields}&code=${code}`)
  assert.equal(twice.json().error, 'invalid_request')
  const listed = await post(
    '/api/oauth/token',
    JSON.stringify({ ...Object.fromEntries(fields), code: [code, code] }),
    json,
  )
  assert.equal(listed.json().error, 'invalid_request')
  const inQuery = await post(`/api/oauth/token?${fields}`, '')
  assert.equal(inQuery.json().error, 'invalid_request')
  assert.equal((await post('/api/oauth/token', fields.toString())).statusCode, 200, 'nothing was spent')
})

test('a field that a request does not have is refused or ignored, and never stands for somebody else', async () => {
  const [mallory, alice] = await Promise.all([world.person(), world.person()])
  const renaming = await world.api.inject({
    method: 'PATCH',
    url: `/api/identities/${mallory.identityId}`,
    headers: mallory.headers,
    payload: { displayName: 'Renamed', userId: alice.userId, identityId: alice.identityId },
  })
  assert.equal(renaming.statusCode, 400, renaming.body)
  const read = await world.api.inject({ url: `/api/identities/${alice.identityId}`, headers: alice.headers })
  assert.equal(read.json().displayName, `The ${alice.handle}`)

  const started = await world.api.inject({
    method: 'POST',
    url: register,
    payload: { handle: 'newcomer', displayName: 'New', userId: alice.userId, challenge: 'known', ceremony: 'sign in' },
  })
  assert.equal(started.statusCode, 200, started.body)
  assert.notEqual(started.json().userId, alice.userId)
  assert.notEqual(started.json().options.challenge, 'known')
})
