import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { after, before, describe, test } from 'node:test'
import { openAgents, redirectUri, type Agents } from '#testing/agents.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { isAllowedClientIdUrl } from '#clients/registration/metadata-documents/metadata-document.ts'

let world: TestWorld
let host: Agents['host']
let agent: Agents['agent']
let close: Agents['close']
before(async () => {
  ;({ world, host, agent, close } = await openAgents())
})
after(() => close())

describe(
  'CID-01 a document that does not describe its client is rejected with the reason',
  { concurrency: true },
  () => {
    const wrong: Record<string, [Record<string, unknown>, RegExp]> = {
      'another client id': [{ client_id: 'https://agent.example/other.json' }, /client_id other than/],
      'no client id': [{ client_id: undefined }, /lacks/],
      'no redirect URI': [{ redirect_uris: [] }, /lacks/],
      'a redirect URI that is a number': [{ redirect_uris: [1] }, /lacks/],
      'only redirect URIs that are not allowed': [
        {
          redirect_uris: [
            'javascript:alert(1)',
            'http://agent.example/',
            'https://agent.example/#x',
            'https://*.example/',
          ],
        },
        /no redirect URI/,
      ],
      'a secret': [{ client_secret: 'x' }, /secret/],
      'a secret that ends': [{ client_secret_expires_at: 0 }, /secret/],
      'an authentication by a secret': [
        { token_endpoint_auth_method: 'client_secret_post' },
        /token_endpoint_auth_method/,
      ],
      'an authentication by a key': [{ token_endpoint_auth_method: 'private_key_jwt' }, /token_endpoint_auth_method/],
      'another grant': [{ grant_types: ['client_credentials'] }, /grant_types/],
    }
    for (const [what, [document, reason]] of Object.entries(wrong))
      test(what, async () => {
        const app = agent(document)
        const { status, location, view } = await app.signIn()
        assert.deepEqual([status, location, view.error], [400, undefined, 'invalid_client'])
        assert.match(view.description, reason)
        assert.deepEqual(view.sent, { clientId: app.clientId, redirectUri })
        assert.equal((await app.consent()).json().error, 'invalid_client')
        assert.equal(await app.row(), undefined)
      })
  },
)

test('SRF-08 every failure to fetch a document has the same error, after at least a second', async () => {
  const answers: Record<string, Parameters<typeof host.answer>[1]> = {
    missing: { status: 404 },
    moved: { status: 302, headers: { location: '/agent-1.json' } },
    page: { headers: { 'content-type': 'text/html' }, body: '<html>' },
    long: { body: `"${'a'.repeat(6000)}"` },
    'hung up': (request) => request.destroy(),
    silent: () => {},
  }
  const ids = Object.entries(answers).map(([name, answer]) => host.answer(`/${encodeURIComponent(name)}`, answer))
  const closed = 'http://127.0.0.1:9/agent.json'
  const unknown = 'http://no-such-host.localhost:1/agent.json'
  const seen = await Promise.all(
    [...ids, closed, unknown].map(async (id) => {
      const began = performance.now()
      const { status, view } = await agent().signIn({ client_id: id })
      return { said: JSON.stringify([status, view.error, view.description]), took: performance.now() - began }
    }),
  )
  assert.deepEqual(
    [...new Set(seen.map(({ said }) => said))],
    [
      JSON.stringify([
        400,
        'invalid_client',
        'The client metadata document at this client_id could not be fetched or is invalid.',
      ]),
    ],
  )
  assert.ok(seen.every(({ took }) => took >= 990))
})

test('SRF-01 SRF-02 SRF-05 SRF-09 no client ID leads into the network of the service', async (t) => {
  const hosts = {
    BASE_URL: 'https://api.id.example.com',
    AUTH_URL: 'https://id.example.com',
    BUSINESS_URL: 'https://b.id.example.com',
  }
  const hosted = await createWorld({
    environment: { ...hosts, ALLOW_EMBEDDED: '1', CLIENT_ID_METADATA_DOCUMENTS: 'on', RATE_LIMITS: 'off' },
  })
  t.after(() => hosted.close())
  const before = host.connections()
  const inner =
    '127.0.0.1 127.1 0 0x7f000001 2130706433 0177.0.0.1 169.254.169.254 10.0.0.1 100.64.0.1 localhost ' +
    'app.localhost localhost. [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [fe80::1] [fd00::1] ' +
    '[64:ff9b::7f00:1] [2002:7f00:1::] ｌocalhost ①②⑦.0.0.1 %6cocalhost 127.0.0.1%2f.example ' +
    'local%C2%ADhost xn--localhost'
  const ids = inner
    .split(' ')
    .flatMap((name) => [
      ...[`https://${name}/c.json`, `https://${name}:${host.port}/c.json`, `http://${name}:${host.port}/c.json`],
      ...[`https://agent.example@${name}:${host.port}/c.json`, `https://${name}:${host.port}\\c.json`],
    ])
  const answers = await Promise.all(ids.map((id) => agent().signIn({ client_id: id }, hosted)))
  for (const [nth, { status, location, view }] of answers.entries()) {
    assert.deepEqual([status, location, view.error], [400, undefined, 'invalid_client'], String(ids[nth]))
    assert.match(
      view.description,
      /^(?:No active app has this client_id\.|The client metadata document at this client_id could not)/,
    )
  }
  assert.equal(host.connections(), before)
})

test('CID-01 a client ID is a document URL in its normalized spelling only', () => {
  const [api, auth, business] = ['https://api.id.example.com', 'https://id.example.com', 'https://b.id.example.com']
  const there = { baseUrl: new URL(api), authUrl: new URL(auth), businessUrl: new URL(business) }
  const here = world.config
  for (const own of [api, auth, business]) assert.ok(!isAllowedClientIdUrl(`${own}/c`, there), own)
  const good = [
    'https://a.example/c',
    'https://a.example/c/d.json?e=f',
    'https://a.example:8443/c',
    'https://xn--bcher-kva.example/c',
  ]
  for (const id of good) assert.ok(isAllowedClientIdUrl(id, there), id)
  const bad =
    'https://a.example https://a.example/ https://a.example/c#d https://a.example/c# https://a@a.example/c ' +
    'https://:b@a.example/c https://A.example/c HTTPS://a.example/c https://a.example:443/c ' +
    'https://a.example./c https://a.example/b/../c https://a.example/./c https://a.example/%2e%2e/c ' +
    'https://a.example/%2E/c https:/a.example/c https:a.example/c https://a.example\\c http://a.example/c ' +
    `https://bücher.example/c https://a.example/ü //a.example/c app_0123 urn:a:b https://a.example/${'c'.repeat(290)}`
  for (const id of bad.split(' ')) assert.ok(!isAllowedClientIdUrl(id, there) && !isAllowedClientIdUrl(id, here), id)
  assert.ok(isAllowedClientIdUrl('http://localhost:3000/c', here))
  assert.ok(!isAllowedClientIdUrl('http://localhost:3000/c', there))
})

test('a document is fetched once at a time and cached as it declares, from a minute to an hour', async () => {
  const inAMoment = agent()
  await Promise.all(Array.from({ length: 10 }, () => inAMoment.signIn()))
  assert.equal(inAMoment.fetches(), 1)

  const ages: Record<string, [Record<string, string>, number]> = {
    nothing: [{}, 60],
    'no-store': [{ 'cache-control': 'no-store, max-age=600' }, 60],
    'max-age': [{ 'cache-control': 'public, max-age=600' }, 600],
    age: [{ 'cache-control': 'max-age="600"', age: '100' }, 500],
    'a year': [{ 'cache-control': 'max-age=31536000' }, 3600],
    'another word': [{ 'cache-control': 'x-max-age=600' }, 60],
  }
  for (const [what, [headers, seconds]] of Object.entries(ages)) {
    const app = agent({}, headers)
    await app.signIn()
    world.pass(seconds - 1)
    await app.signIn()
    assert.equal(app.fetches(), 1, what)
    world.pass(1)
    await app.signIn()
    assert.equal(app.fetches(), 2, what)
  }
})

test('failures are not cached', async () => {
  const app = agent({ redirect_uris: [] })
  assert.equal((await app.signIn()).status, 400)
  app.serve({ redirect_uris: [redirectUri] })
  assert.equal((await app.signIn()).status, 200)
})

test('SRF-06 fetching documents is rate-limited', async (t) => {
  const limitedWorld = await createWorld({ environment: { CLIENT_ID_METADATA_DOCUMENTS: 'on' }, rateLimits: true })
  t.after(() => limitedWorld.close())
  const app = agent()
  for (let nth = 0; nth < 30; nth += 1) {
    host.answer(`/many-${nth}`, {
      body: JSON.stringify({ client_id: host.at(`/many-${nth}`), redirect_uris: [redirectUri] }),
    })
    assert.equal((await app.signIn({ client_id: host.at(`/many-${nth}`) }, limitedWorld)).status, 200)
  }
  const { status, view } = await app.signIn({}, limitedWorld)
  assert.deepEqual([status, view.error, app.fetches()], [429, 'rate_limited', 0])
  assert.equal(view.retryAfterSeconds, 60, 'the page says when to try again')
  assert.equal(
    (await app.signIn({ client_id: host.at('/many-0') }, limitedWorld)).status,
    200,
    'cached documents are not fetched',
  )
})
