import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { applyRateLimitNumbers, createRateLimits, type RateLimitNumbers } from '#platform/rate-limits/rate-limit.ts'
import { rateLimitPolicies } from '../../../modules.ts'
import { ApiError } from '#platform/api-error.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'
import { createAppDirectory, type AppDirectory } from '#clients/registration/directory.ts'
import {
  authenticateClient,
  requireClientAuthentication,
  type ClientCredentials,
} from '#clients/registration/authentication/authentication.ts'

let world: TestWorld
let apps: AppDirectory
let confidential: TestApp
let publicApp: TestApp
before(async () => {
  world = await createWorld()
  apps = createAppDirectory(world.kernel)
  confidential = await world.app()
  publicApp = await world.app({ public: true })
})
after(() => world.close())

const home = '192.0.2.1'
const wrong = { code: 'invalid_client', status: 401 }
const limited = { code: 'rate_limited', status: 429 }

function credentials({ clientId }: { clientId: ClientId }, secret?: string, scheme: 'basic' | 'body' = 'body') {
  if (secret === undefined) return { clientId, proof: { kind: 'none' }, scheme } as const
  return { clientId, proof: { kind: 'secret', secret: new Secret(secret) }, scheme } as const
}

/** Creates client authentication with separate rate limits. */
function door(numbers: RateLimitNumbers = {}) {
  const rateLimits = createRateLimits({
    clock: world.kernel.clock,
    shared: undefined,
    policies: applyRateLimitNumbers(rateLimitPolicies, numbers),
  })
  return (sent: ClientCredentials, address = home) =>
    authenticateClient({ apps, rateLimits }, sent, address, world.now())
}

/** Returns the error that a promise rejects with. */
async function refusalOf(promise: Promise<unknown>) {
  try {
    await promise
  } catch (error) {
    assert.ok(error instanceof ApiError)
    return { status: error.status, headers: error.headers, body: error.toBody() }
  }
  throw new Error('the promise did not reject')
}

test('the correct secret authenticates a client, and no secret does not', async () => {
  const proved = await door()(credentials(confidential, confidential.clientSecret))
  assert.equal(proved.app.clientId, confidential.clientId)
  assert.equal(proved.authenticated, true)

  const unproved = await door()(credentials(confidential))
  assert.equal(unproved.authenticated, false)
  assert.throws(() => requireClientAuthentication(unproved), wrong)
})

test('a public app needs no secret, and any secret it sends is wrong', async () => {
  const client = await door()(credentials(publicApp))
  assert.equal(client.authenticated, false)
  requireClientAuthentication(client)
  for (const secret of ['', 'cs_secret', '\0'.repeat(32)])
    await assert.rejects(door()(credentials(publicApp, secret)), wrong)
})

test('TOK-03: an unknown client and a wrong secret cause the same error', async () => {
  const unknown = await refusalOf(door()(credentials({ clientId: asId<ClientId>('app_0123456789abcdef') }, 'cs_wrong')))
  const mistaken = await refusalOf(door()(credentials(confidential, 'cs_wrong')))
  assert.equal(unknown.status, 401)
  assert.deepEqual(unknown, mistaken)
})

test('TOK-03: a malformed client ID is rejected', async () => {
  for (const clientId of ['', '\0', '\n', 'é', 'x'.repeat(100_000), '../app', "' or 1=1 --"])
    await assert.rejects(door()(credentials({ clientId: asId<ClientId>(clientId) }, 'cs_wrong')), wrong)
})

test('TOK-04: a wrong secret in the header is answered with WWW-Authenticate', async () => {
  const inHeader = await refusalOf(door()(credentials(confidential, 'cs_wrong', 'basic')))
  assert.deepEqual(inHeader.headers, { 'www-authenticate': 'Basic realm="countersign"' })
  const inBody = await refusalOf(door()(credentials(confidential, 'cs_wrong', 'body')))
  assert.deepEqual(inBody.headers, {})
})

test('TOK-17: a secret that differs in one byte is wrong', async () => {
  const secret = confidential.clientSecret
  const swapped = secret.toLowerCase() === secret ? secret.toUpperCase() : secret.toLowerCase()
  const near = [secret.slice(0, -1), secret.slice(1), `${secret}A`, `A${secret}`, swapped, `${secret}\n`, `${secret}\0`]
  for (const text of [...near, '', ` ${secret}`]) await assert.rejects(door()(credentials(confidential, text)), wrong)
  await door()(credentials(confidential, secret))
})

test('TOK-20: guesses are limited and cannot lock the app out', async () => {
  const authenticate = door()
  const guess = () => authenticate(credentials(confidential, 'cs_wrong'))
  for (let count = 0; count < 30; count += 1) await assert.rejects(guess(), wrong)
  const stopped = await refusalOf(guess())
  assert.equal(stopped.status, 429)
  assert.match(stopped.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  await assert.rejects(authenticate(credentials(confidential, confidential.clientSecret)), limited)

  const elsewhere = await authenticate(credentials(confidential, confidential.clientSecret), '198.51.100.7')
  assert.equal(elsewhere.authenticated, true)
})

test('TOK-20 GRW-28 guesses from many addresses are limited together, and the correct secret still works', async () => {
  const authenticate = door({ 'client-authentication-failures-per-client-global': 90 })
  const guessFrom = (host: number) => authenticate(credentials(confidential, 'cs_wrong'), `203.0.113.${host}`)
  for (let count = 0; count < 90; count += 1) await assert.rejects(guessFrom(count), wrong)
  await assert.rejects(guessFrom(91), limited)

  const client = await authenticate(credentials(confidential, confidential.clientSecret), '203.0.113.61')
  assert.equal(client.authenticated, true)
})

test('GRW-28 guesses of a few networks do not change the responses to other addresses', async () => {
  const authenticate = door()
  const guessFrom = (address: string) => authenticate(credentials(confidential, 'cs_wrong'), address)
  for (let host = 0; host < 100; host += 1) await assert.rejects(guessFrom(`203.0.113.${host}`), wrong)
  for (let network = 0; network < 60; network += 1)
    await assert.rejects(guessFrom(`2001:db8:7:${network.toString(16)}::/64`), wrong)
  await assert.rejects(guessFrom('2001:db8:7:ff::/64'), limited, 'all networks of a site count as one')
  await assert.rejects(guessFrom('198.51.100.7'), wrong)
  await assert.rejects(guessFrom('2001:db8:8:1::/64'), wrong)
})

test('an app that succeeds is never limited', async () => {
  const authenticate = door()
  for (let count = 0; count < 100; count += 1) await authenticate(credentials(confidential, confidential.clientSecret))
})
