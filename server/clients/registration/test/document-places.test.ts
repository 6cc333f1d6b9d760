import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld({ environment: { CLIENT_ID_METADATA_DOCUMENTS: 'on' } })
})
after(() => world.close())

/** Starts a host of documents: those below `/late` respond when released, all others at once. */
async function startHost() {
  const held: (() => void)[] = []
  let hear = () => {}
  const server = createServer(({ url }, response) => {
    const document = {
      client_id: `${origin}${url}`,
      client_name: 'App',
      redirect_uris: ['https://app.example/callback'],
    }
    const answer = () => response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    if (!url?.startsWith('/late')) return void answer()
    held.push(answer)
    hear()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the host has no port')
  const origin = `http://localhost:${address.port}`
  after(() => server.close())
  return {
    origin,
    async holds(count: number) {
      while (held.length < count) await new Promise<void>((resolve) => (hear = resolve))
    },
    letGo: () => held.forEach((answer) => answer()),
  }
}

async function ask(clientId: string, remoteAddress: string): Promise<number> {
  const requested = { client_id: clientId, redirect_uri: 'https://app.example/callback', response_type: 'code' }
  const query = new URLSearchParams({ ...requested, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' })
  return (await world.auth.inject({ url: `/signin?${query}`, remoteAddress })).statusCode
}

const times = (count: number) => Array.from({ length: count }, (_, nth) => nth)

test('LOD-35 pending fetches block no caller of another network and no other host', async () => {
  const [late, other] = [await startHost(), await startHost()]
  const ofOne = times(10).map((nth) => ask(`${late.origin}/late/one-${nth}`, '203.0.113.1'))
  await late.holds(10)
  assert.equal(await ask(`${other.origin}/a`, '203.0.113.1'), 503, 'the network has reached its limit')
  assert.equal(await ask(`${other.origin}/a`, '203.0.113.2'), 200, 'another network has its own limit')
  assert.equal(await ask(`${other.origin}/a`, '203.0.113.1'), 200, 'a cached document is available to all')

  const ofSite = times(10).map((nth) => ask(`${other.origin}/late/site-${nth}`, `2001:db8:1:${nth}::1`))
  await other.holds(10)
  assert.equal(await ask(`${other.origin}/b`, '2001:db8:1:99::1'), 503, 'a /48 is one network')

  const atHost = times(20).map((nth) => ask(`${late.origin}/late/host-${nth}`, `198.51.100.${nth}`))
  await late.holds(30)
  assert.equal(await ask(`${late.origin}/c`, '198.51.100.99'), 503, 'the host has reached its limit')
  assert.equal(await ask(`${other.origin}/c`, '198.51.100.99'), 200, 'another host has its own limit')

  late.letGo()
  other.letGo()
  assert.deepEqual(new Set(await Promise.all([...ofOne, ...ofSite, ...atHost])), new Set([200]))
  assert.equal(await ask(`${late.origin}/c`, '198.51.100.99'), 200)
})
