import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Makes a host listen, for requests that no client library sends. */
async function listen(host: TestWorld['api']): Promise<{ port: number }> {
  const address = host.server.address()
  if (address !== null && typeof address === 'object') return address
  const { port } = new URL(await host.listen({ host: '127.0.0.1', port: 0 }))
  return { port: Number(port) }
}

function sendRaw(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(bytes, 'latin1')
  let answer = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => void (answer += chunk))
  return new Promise((resolve) => socket.on('error', () => {}).once('close', () => resolve(answer)))
}

const register = '/api/auth/register/start'
const json = { 'content-type': 'application/json' }
const send = (payload: string, headers: Record<string, string> = json) =>
  world.api.inject({ method: 'POST', url: register, headers, payload })
const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
const alice = '"handle":"alice","displayName":"Alice"'
/** Builds members that a registration ignores, each with its own name. */
const members = (count: number) => Array.from({ length: count }, (_, n) => `"${n.toString(36)}":0`).join(',')

const refused: Record<string, string> = {
  'INJ-03 an object 34 levels deep': deep(34),
  'INJ-03 an object 5,000 levels deep': deep(5000),
  'INJ-03 a number out of range': '{"handle":"alice","displayName":"Alice","n":1e400}',
  'INJ-03 a trailing comma': `{${alice},}`,
  'INJ-03 a member twice': `{${alice},"handle":"alice"}`,
  'INJ-03 a member twice, once in escapes': `{${alice},"h\\u0061ndle":"alice"}`,
  'INJ-03 a member twice, further in': `{${alice},"more":[{"a":1,"b":{"c":":","c":"\\":"}}]}`,
  'INJ-03 a member twice, with no name': `{${alice},"":1,"":2}`,
  'INJ-03 INJ-02 the prototype twice': '{"__proto__":{"a":1},"__proto__":{"a":1}}',
  'INJ-03 more members than a body may have': `{${alice},${members(6000)}}`,
  'INJ-03 lists 60,000 levels deep': '['.repeat(60_000),
  'INJ-03 a byte order mark': '\ufeff{"handle":"alice","displayName":"Alice"}',
  'INJ-04 null': 'null',
  'INJ-04 an array': '[]',
  'INJ-04 a text': '"alice"',
  'INJ-04 a number': '7',
  'INJ-02 a key that reaches the prototype': '{"__proto__":{"polluted":1},"handle":"alice","displayName":"Alice"}',
  'U+0000': '{"handle":"alice","displayName":"A\\u0000"}',
  'half of a character': '{"handle":"alice","displayName":"A\\ud800"}',
}
for (const [what, payload] of Object.entries(refused))
  test(`${what} is rejected with its own error, and the next request is served`, async () => {
    const answer = await send(payload)
    assert.equal(answer.statusCode, 400, answer.body)
    assert.equal(answer.json().error, 'invalid_request')
    assert.match(answer.json().error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/)
    assert.equal((await world.api.inject({ url: '/readyz' })).statusCode, 200)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

test('LOD-03 a body over 64 KiB is rejected', async () => {
  const answer = await send(JSON.stringify({ handle: 'alice', displayName: 'a'.repeat(64 * 1024) }))
  assert.equal(answer.statusCode, 413)
  assert.equal(answer.json().error, 'payload_too_large')
})

test('INJ-03 minus zero, and names that have a meaning elsewhere, are harmless', async () => {
  for (const more of ['"n":-0', '"a":{"handle":1},"b":{"handle":2}', `"text":${JSON.stringify('":,{"'.repeat(50))}`]) {
    const answer = await send(`{${alice},${more}}`)
    assert.equal(answer.statusCode, 200, answer.body)
  }
})

test('INJ-03 a hundred thousand members and a text of a megabyte are rejected as too large', async () => {
  for (const payload of [`{${alice},${members(100_000)}}`, `{${alice},"more":"${'a'.repeat(1024 ** 2)}"}`]) {
    const answer = await send(payload)
    assert.deepEqual([answer.statusCode, answer.json().error], [413, 'payload_too_large'])
  }
})

test('INJ-01 a body of another content type, or of two, is never parsed beyond its schema', async () => {
  const { port } = await listen(world.api)
  const [good, wrong] = [`{${alice}}`, '{"handle":7,"displayName":"Alice"}']
  const post = async (types: string[], body: string) => {
    const headers = ['Host: localhost', ...types.map((type) => `Content-Type: ${type}`), 'Connection: close']
    const head = [`POST ${register} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`].join('\r\n')
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(await sendRaw(port, `${head}\r\n\r\n${body}`))?.[1])
  }
  const others = [
    ['text/plain'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    ['application/xml'],
    ['application/scim+json'],
    ['application/jsonp'],
    ['text/plain', 'application/json'],
  ]
  for (const types of others)
    for (const body of [good, wrong]) assert.equal(await post(types, body), 415, String(types))
  const asJson = [
    ['application/json'],
    [' application/json'],
    ['APPLICATION/JSON'],
    ['application/json;charset=utf-7'],
    ['application/json', 'text/plain'],
    ['application/json', 'application/x-www-form-urlencoded'],
  ]
  for (const types of asJson)
    assert.deepEqual([await post(types, good), await post(types, wrong)], [200, 400], String(types))
  for (const type of ['application/json\ta', 'application/json a', 'application/json,text/plain'])
    assert.ok([400, 415].includes(await post([type], wrong)), type)
})

test('INJ-11 numbers, booleans, texts and lists are not coerced into one another', async () => {
  const [person, app] = [await world.person(), await world.app()]
  const session = { ...json, ...person.headers }
  const credentials = { clientId: app.credentials.client_id, clientSecret: app.credentials.client_secret }
  const signing = { ...credentials, identityId: person.identityId, payload: 'Pay' }
  const naming = { name: 'An app', redirectUris: ['https://app.example/callback'] }
  const admin = { ...json, ...world.admin }
  const requests: { url: string; headers: Record<string, string>; good: object; wrong: object[] }[] = [
    {
      url: register,
      headers: json,
      good: { handle: 'alice', displayName: 'Alice' },
      wrong: [{ handle: 12_345 }, { displayName: ['Alice'] }, { displayName: true }, { displayName: {} }],
    },
    {
      url: '/api/signing/request',
      headers: json,
      good: { ...signing, expiresInSeconds: 300 },
      wrong: [
        { expiresInSeconds: '300' },
        { expiresInSeconds: [300] },
        { expiresInSeconds: true },
        { payload: 7 },
        { payload: ['Pay'] },
      ],
    },
    {
      url: '/api/admin/apps',
      headers: admin,
      good: { ...naming, public: true },
      wrong: [
        { public: 'true' },
        { public: 1 },
        { public: [true] },
        { redirectUris: 'https://app.example/callback' },
        { name: 7 },
      ],
    },
    {
      url: '/api/identities',
      headers: session,
      good: { handle: 'another-name', displayName: 'Another' },
      wrong: [{ handle: ['another-name'] }, { displayName: 1 }],
    },
  ]
  for (const { url, headers, good, wrong } of requests) {
    for (const bent of wrong) {
      const answer = await world.api.inject({ method: 'POST', url, headers, payload: { ...good, ...bent } })
      assert.deepEqual([answer.statusCode, answer.json().error], [400, 'invalid_request'], JSON.stringify(bent))
    }
    const answer = await world.api.inject({ method: 'POST', url, headers, payload: good })
    assert.notEqual(answer.statusCode, 400, `${url} takes what is right: ${answer.body}`)
  }
})

test('INJ-08 an unusual path reaches no other route when sent unchanged', async () => {
  const person = await world.person()
  const id = person.identityId
  const { port } = await listen(world.api)
  const head = `Host: localhost\r\nConnection: close\r\nAuthorization: ${person.headers.authorization}`
  const ask = async (path: string) => {
    const answer = await sendRaw(port, `GET ${path} HTTP/1.1\r\n${head}\r\n\r\n`)
    return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
  }
  assert.equal(await ask(`/api/identities/${id}`), 200)
  for (const path of [
    `/api/identities/${id}%00`,
    `/api/identities/%00`,
    `//api/identities/${id}`,
    `/api//identities/${id}`,
    `/api/identities/${id}/`,
    `/api/identities/${id};a=b`,
    `/api;a/identities/${id}`,
    `/api/identities/x/%2e%2e/${id}`,
    `/api/identities/x/../${id}`,
    `/api/identities/%2e%2e/identities/${id}`,
    `/api/identities%2f${id}`,
    `/API/identities/${id}`,
    `/api/identities/${'a'.repeat(8192)}`,
    `/${'a/'.repeat(4096)}`,
    `/api/identities/%ff`,
    `/api/identities/%c3%28`,
    `/api/identities/%`,
    `/api/identities/\xff`,
    `/assets/%2e%2e/%2e%2e/package.json`,
    `/assets/..%2f..%2fpackage.json`,
  ])
    assert.ok([400, 404].includes(await ask(path)), `${path.slice(0, 60)}: ${await ask(path)}`)
})

test('INJ-12 fifty thousand characters that are hard for patterns are answered at once', async () => {
  const app = await world.app()
  const person = await world.person()
  const long = 50_000
  const texts = ['a', 'a-', 'a.', 'a@', '@', ' ', '%2e', '-', 'https://a.', '\u0301', 'ﷺ', '\u200b', '=', 'A=', 'é.']
  const evil = texts.map((text) => text.repeat(long / text.length / 3) + '!')
  const session = { ...json, ...person.headers }
  const form = (fields: Record<string, string>) => new URLSearchParams({ ...app.credentials, ...fields }).toString()
  const asForm = { 'content-type': 'application/x-www-form-urlencoded' }
  const identity = `/api/identities/${person.identityId}`
  const requested = (
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
    for (const request of requested(text)) {
      let fastest = Infinity
      for (let attempt = 0; attempt < 10 && fastest > 20; attempt += 1) {
        const before = process.cpuUsage()
        const { statusCode, body } = await world.api.inject({ ...request, headers: { ...request.headers } })
        const { user, system } = process.cpuUsage(before)
        fastest = Math.min(fastest, (user + system) / 1000)
        assert.ok(statusCode >= 400 && statusCode < 500, `${request.url}: ${statusCode} ${body.slice(0, 200)}`)
      }
      assert.ok(fastest < 20, `${request.method} ${request.url} of ${text.slice(0, 12)}…: ${fastest} ms`)
    }
})

test('INJ-07 a query parameter that is repeated or an object is rejected', async () => {
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
  const inJson = JSON.stringify(Object.fromEntries(fields))
  for (const doubled of [`{"code":"${code}",${inJson.slice(1)}`, `${inJson.slice(0, -1)},"cod\\u0065":"x"}`]) {
    const refused = await post('/api/oauth/token', doubled, json)
    assert.deepEqual([refused.statusCode, refused.json().error], [400, 'invalid_request'], doubled)
  }
  const inQuery = await post(`/api/oauth/token?${fields}`, '')
  assert.equal(inQuery.json().error, 'invalid_request')
  assert.equal((await post('/api/oauth/token', fields.toString())).statusCode, 200, 'nothing was consumed')
})

test('an unknown field is rejected or ignored, and never selects another user', async () => {
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
    payload: {
      handle: 'newcomer',
      displayName: 'New',
      userId: alice.userId,
      challenge: 'known',
      ceremony: 'authenticate',
    },
  })
  assert.equal(started.statusCode, 200, started.body)
  assert.notEqual(started.json().userId, alice.userId)
  assert.notEqual(started.json().options.challenge, 'known')
})
