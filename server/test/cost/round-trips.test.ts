import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { recordTrips } from '#testing/interruption.ts'
import { requestIdIn } from '#testing/request-client.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

const { between, trips } = recordTrips()
let world: TestWorld
before(async () => {
  world = await createWorld({ between })
})
after(() => world.close())

/** Statements that concurrent requests share, or whose rows a process remembers. */
const isShared = (statement: string) => /^select (?:nth::integer|"revision", "stored")/.test(statement)

/** Counts the round trips of a request to the database for itself, and its transactions. */
async function cost(request: () => Promise<{ statusCode: number; body: string }>) {
  trips.length = 0
  const { statusCode, body } = await request()
  assert.ok(statusCode < 300, body)
  const own = trips.filter((trip) => !trip.every(isShared))
  const commits = own.flat().filter((statement) => statement === 'commit').length
  return { roundTrips: own.length, commits, statements: own.flat().length }
}

const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  world.api.inject({ method: 'POST', url, payload, headers })

/** The most round trips of each request. What a transaction decides by comes in one, and what it writes in another. */
const roundTripsMax = { 'finish a sign-in': 5, authorize: 3, 'request a signature': 5, 'sign a text': 7 }

test('a request that signs in, authorizes or signs awaits few round trips, and one transaction', async () => {
  const signer = await createSigner(world)
  const app = await world.app()
  const requester = signingRequesterOf(world, app)
  const costs: Partial<Record<keyof typeof roundTripsMax, Awaited<ReturnType<typeof cost>>>> = {}
  // The first request of each kind also notes the day, and reads what the process then remembers.
  for (let nth = 0; nth < 2; nth += 1) {
    const { flowId, options } = (await post('/api/auth/login/start', {})).json()
    const finish = { flowId, credential: signer.authenticator.authenticate(options) }
    costs['finish a sign-in'] = await cost(() => post('/api/auth/login/finish', finish))
    const { clientId, redirectUri } = app
    const consent = { clientId, redirectUri, scope: 'openid profile', identityId: signer.identityId }
    costs.authorize = await cost(() => post('/api/oauth/authorize', consent, signer.headers))
    let requestId = ''
    costs['request a signature'] = await cost(async () => {
      const answer = await requester.request(signer.identityId)
      requestId = requestIdIn(answer)
      return answer
    })
    costs['sign a text'] = await cost(() => signer.sign(requestId, signer.pair.sign('Pay 10 €')))
  }
  for (const [name, max] of Object.entries(roundTripsMax)) {
    const made = costs[name as keyof typeof roundTripsMax]
    assert.ok(made && made.roundTrips <= max && made.commits === 1, `${name}: ${JSON.stringify(made)}`)
  }
})
