import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { serveHere } from '#testing/service-here.ts'
import { startBeside, startService } from '#testing/service.ts'
import { createWorld } from '#testing/world.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined
const where = isShared ? 'on two processes over one PostgreSQL' : 'on one process'

/** Starts the product behind a proxy, as one process or as two that share a database; returns their API hosts. */
async function startBehindProxy(t: TestContext, environment: Record<string, string>): Promise<string[]> {
  if (isShared) {
    const service = await startService({ environment })
    t.after(() => service.close())
    return [service.baseUrl, (await startBeside(t, service)).baseUrl]
  }
  const service = await serveHere(environment)
  t.after(() => service.close())
  return [service.baseUrl]
}

/** Counts how many of 64 concurrent registrations are accepted, the nth from `address(n)`. */
async function passing(hosts: string[], address: (n: number) => string): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, n) =>
      fetch(`${hosts[n % hosts.length]}/api/auth/register/start`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': address(n) },
        body: JSON.stringify({ handle: `person-${randomBytes(6).toString('hex')}`, displayName: 'Someone' }),
      }),
    ),
  )
  for (const { status } of answers) assert.ok(status === 200 || status === 429, `${status}`)
  return answers.filter(({ status }) => status === 200).length
}

test(`LOD-05 64 concurrent requests do not exceed a limit of 10, in any address spelling, ${where}`, async (t) => {
  const hosts = await startBehindProxy(t, { TRUST_PROXY: '1' })
  const spellings = ['2001:db8:7:8::', '2001:DB8:7:8:0:0:0:', '2001:0db8:0007:0008:ffff:1:2:']
  assert.equal(await passing(hosts, (n) => `${spellings[n % 3]}${n + 1}`), 10)
  assert.equal(await passing(hosts, (n) => (n % 2 ? '::ffff:203.0.113.9' : '203.0.113.9')), 10)
  assert.equal(await passing(hosts, (n) => `198.51.100.${n}, 192.0.2.77`), 10)
})

test(`NET-06 an IPv6 /48 has ten times the limit of an address, ${where}`, async (t) => {
  const hosts = await startBehindProxy(t, { TRUST_PROXY: '1' })
  const ofNetwork = (nth: number) => passing(hosts, () => `2001:db8:48:${nth.toString(16)}::1`)
  for (let nth = 1; nth <= 9; nth += 1) assert.equal(await ofNetwork(nth), 10, `network ${nth}`)
  const ofMany = (first: number) =>
    passing(hosts, (n) => (n === 0 ? `2001:db8:49:${first}::1` : `2001:db8:48:${(first + n).toString(16)}::1`))
  assert.equal(await ofMany(100), 11, 'the ten that are left, and one of another /48')
  assert.equal(await ofMany(200), 1, 'the one of another /48')
})

for (const trusted of ['1', '127.0.0.0/8,::1'])
  test(`NET-09 a proxy that adds ports disables no limit: TRUST_PROXY=${trusted}, ${where}`, async (t) => {
    const hosts = await startBehindProxy(t, { TRUST_PROXY: trusted })
    assert.equal(await passing(hosts, (n) => `203.0.113.9:${50_000 + n}`), 10)
    assert.equal(await passing(hosts, (n) => `[2001:db8:5:6::${n + 1}]:${50_000 + n}`), 10)
    assert.equal(await passing(hosts, (n) => `nobody-${n}`), 10, 'what is no address is the address of the proxy')
  })

test(`NET-09 a chain of trusted proxies that add ports is followed to the client, ${where}`, async (t) => {
  const hosts = await startBehindProxy(t, { TRUST_PROXY: '127.0.0.0/8,::1,10.0.0.0/8,fd00::/8' })
  assert.equal(await passing(hosts, (n) => `192.0.2.${n}, 198.51.100.7:${n + 1}, 10.0.0.9:443, [fd00::1]:443`), 10)
  assert.equal(await passing(hosts, (n) => `192.0.2.${n}, garbage, [fd00::7]:443`), 10, 'behind what is no address')
  assert.equal(await passing(hosts, (n) => `192.0.2.${n}, 10.0.0.9:443`), 64, 'the clients of a chain')
})

test(`LOD-05 HDR-07 without a trusted proxy, X-Forwarded-For is ignored, ${where}`, async (t) => {
  const hosts = await startBehindProxy(t, {})
  assert.equal(await passing(hosts, (n) => `198.51.100.${n}`), 10)
})

test('TOK-20 10,000 wrong secrets from one address rate limit the address, and not the app', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const [app, person] = [await world.app(), await world.person()]
  const ask = (fields: Record<string, string>, remoteAddress: string) =>
    world.api.inject({
      method: 'POST',
      url: '/api/oauth/token',
      remoteAddress,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({ client_id: app.clientId, ...fields }).toString(),
    })
  const guess = (address: string) =>
    ask({ grant_type: 'refresh_token', refresh_token: 'x', client_secret: 'cs_guess' }, address)

  const statuses: number[] = []
  for (let tries = 0; tries < 10_000; tries += 1) statuses.push((await guess('192.0.2.66')).statusCode)
  assert.deepEqual(statuses, [...Array<number>(30).fill(401), ...Array<number>(9970).fill(429)])
  const refused = await guess('192.0.2.66')
  assert.equal(refused.json().error, 'rate_limited')
  assert.equal(refused.headers['retry-after'], '60')
  assert.equal(refused.headers['ratelimit-limit'], '30')

  for (let tries = 0; tries < 100; tries += 1) await guess(`192.0.2.${100 + tries}`)
  const wrong = await guess('203.0.113.8')
  assert.deepEqual([wrong.statusCode, wrong.json().error], [401, 'invalid_client'])
  const right = {
    grant_type: 'authorization_code',
    code: await app.code(person),
    redirect_uri: app.redirectUri,
    client_secret: app.clientSecret,
  }
  const elsewhere = await ask(right, '203.0.113.9')
  assert.equal(elsewhere.statusCode, 200, elsewhere.body)
})

test('TOK-12 malformed credentials are counted against their address', async (t) => {
  const world = await createWorld({ rateLimits: true })
  t.after(() => world.close())
  const unreadable = ['Basic', 'Basic !!!!', 'Basic YXBw', 'Basic AAAA', 'Basic JXp6OmE=']
  const statuses: number[] = []
  for (let tries = 0; tries < 32; tries += 1) {
    const answer = await world.api.inject({
      method: 'POST',
      url: '/api/oauth/token',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: unreadable[tries % unreadable.length] ?? '',
      },
      payload: 'grant_type=refresh_token&refresh_token=x',
    })
    statuses.push(answer.statusCode)
    if (answer.statusCode === 401) assert.equal(answer.json().error, 'invalid_client')
  }
  assert.deepEqual(statuses, [...Array<number>(30).fill(401), 429, 429])
})

const signingLimits: Record<string, { points: number; requested: object }> = {
  'KEY-11 looking up public keys': { points: 300, requested: { url: '/api/signing/public-key/nobody-here' } },
  'looking up encryption keys': { points: 300, requested: { url: '/api/encryption/identity-key/nobody-here' } },
  'verifying signatures': {
    points: 300,
    requested: {
      method: 'POST',
      url: '/api/signing/verify',
      payload: { message: 'a', signature: 'a', publicKey: 'a' },
    },
  },
  'SIG-25 asking for demonstrations': {
    points: 20,
    requested: { method: 'POST', url: '/api/signing/demo/request', payload: { handle: 'nobody-here', payload: 'a' } },
  },
}
for (const [what, { points, requested }] of Object.entries(signingLimits))
  test(`${what} is limited to ${points} a minute from one address`, async (t) => {
    const world = await createWorld({ rateLimits: true })
    t.after(() => world.close())
    const ask = (remoteAddress: string) => world.api.inject({ ...requested, remoteAddress })
    const codes: string[] = []
    for (let tries = 0; tries < points + 2; tries += 1) codes.push((await ask('192.0.2.66')).json().error)
    assert.ok(!codes.slice(0, points).includes('rate_limited'))
    assert.deepEqual(codes.slice(points), ['rate_limited', 'rate_limited'])
    assert.notEqual((await ask('192.0.2.67')).statusCode, 429)
    world.pass(60)
    assert.notEqual((await ask('192.0.2.66')).statusCode, 429)
  })
