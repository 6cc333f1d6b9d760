import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { type ClientId, type IdentityId, type SessionId, asId } from '@countersign/protocol/ids'
import { noRateLimits } from '#platform/rate-limits/rate-limit.ts'
import { rateLimitPolicies } from '../modules.ts'
import { businessRequest, createOrganization } from '#testing/organization.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, postForm, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

async function limitedWorld(t: TestContext, numbers?: string): Promise<TestWorld> {
  const environment = numbers === undefined ? {} : { RATE_LIMIT_NUMBERS: numbers }
  const world = await createWorld({ rateLimits: true, environment })
  t.after(() => world.close())
  return world
}

const asPerson =
  (world: TestWorld, { headers }: Pick<Person, 'headers'>) =>
  (method: Method, url: string, payload?: object) =>
    world.api.inject({ method, url, headers, ...(payload && { payload }) })

/** Returns the statuses of this many requests, one after another. */
async function statusesOf(count: number, ask: (nth: number) => Promise<{ statusCode: number }>): Promise<number[]> {
  const statuses: number[] = []
  for (let nth = 0; nth < count; nth += 1) statuses.push((await ask(nth)).statusCode)
  return statuses
}

const thenLimited = (count: number, status: number, refused = 1) => [
  ...Array<number>(count).fill(status),
  ...Array<number>(refused).fill(429),
]

test('GRW-01 a signing key can be replaced ten times a day, and wrong signatures do not count', async (t) => {
  const world = await limitedWorld(t)
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  let { pair } = ada
  const rotate = async () => {
    const next = newSigningPair()
    const answer = await ada.rotate(rotationOf(ada.identityId, pair, next))
    if (answer.statusCode === 200) pair = next
    return answer
  }
  const forge = () => ada.rotate(rotationOf(ada.identityId, newSigningPair(), newSigningPair()))
  assert.deepEqual(await statusesOf(12, forge), Array<number>(12).fill(403))
  assert.deepEqual(await statusesOf(12, rotate), thenLimited(10, 200, 2))
  const refused = await rotate()
  assert.equal(refused.json().error, 'rate_limited')
  assert.equal(refused.headers['retry-after'], String(24 * 3600))
  const leaves = await world.db.selectFrom('transparency_leaf').select('leaf_sha256').execute()
  assert.equal(leaves.length, 12, 'two first keys and ten rotations')
  assert.equal((await bob.rotate(rotationOf(bob.identityId, bob.pair, newSigningPair()))).statusCode, 200)

  world.pass(24 * 3600)
  const headers = await ada.signIn()
  const url = `/api/signing/keys/${ada.identityId}`
  const payload = rotationOf(ada.identityId, pair, newSigningPair())
  assert.equal((await world.api.inject({ method: 'PUT', url, headers, payload })).statusCode, 200)
})

test('GRW-02 creating and deleting identities repeatedly reserves six handles a day per session', async (t) => {
  const world = await limitedWorld(t)
  const ada = await world.person()
  const ask = asPerson(world, ada)
  const createAndDelete = async (nth: number) => {
    const created = await ask('POST', '/api/identities', { handle: `squatted-${nth}`, displayName: 'Squatter' })
    assert.equal(created.statusCode, 201, created.body)
    return ask('DELETE', `/api/identities/${created.json().identityId}`)
  }
  assert.deepEqual(await statusesOf(8, createAndDelete), thenLimited(6, 204, 2))
  const change = await ask('PATCH', `/api/identities/${ada.identityId}`, { handle: 'one-more' })
  assert.equal(change.json().error, 'rate_limited', 'changes of a handle count with them')
  assert.equal((await ask('DELETE', '/api/account')).statusCode, 204, 'an account can always be deleted')
})

test('GRW-03 a profile can be changed sixty times an hour, and a little more after re-authentication', async (t) => {
  const world = await limitedWorld(t)
  const ada = await world.person()
  const ask = asPerson(world, ada)
  const change = (nth: number) => ask('PATCH', `/api/identities/${ada.identityId}`, { displayName: `Ada ${nth}` })
  assert.deepEqual(await statusesOf(40, change), thenLimited(36, 200, 4))
  const other = asPerson(world, { headers: await ada.signIn() })
  const further = await statusesOf(40, () =>
    other('PATCH', `/api/identities/${ada.identityId}`, { displayName: 'Ada' }),
  )
  assert.deepEqual(further, thenLimited(36, 200, 4), 'sixty for both sessions, and some for each re-authentication')
  world.pass(3600)
  assert.equal((await change(0)).statusCode, 200)
})

test('GRW-04 a confidential app can push 600 requests a minute, and other apps are not affected', async (t) => {
  const world = await limitedWorld(t)
  const [one, other] = [await world.app(), await world.app()]
  const push = ({ credentials, redirectUri }: typeof one) =>
    postForm(world.api, '/api/oauth/par', { ...credentials, redirect_uri: redirectUri, response_type: 'code' })
  assert.deepEqual(await statusesOf(602, () => push(one)), thenLimited(600, 201, 2))
  assert.equal((await push(other)).statusCode, 201)
  world.pass(60)
  assert.equal((await push(one)).statusCode, 201)
})

test('GRW-05 a user can start thirty re-authentications an hour in a session', async (t) => {
  const world = await limitedWorld(t)
  const [ada, bob] = [await world.person(), await world.person()]
  const prove = asPerson(world, ada)
  const begin = () => prove('POST', '/api/auth/reauthenticate/start', {})
  world.pass(301)
  assert.deepEqual(await statusesOf(32, begin), thenLimited(30, 200, 2))
  assert.equal((await asPerson(world, bob)('POST', '/api/auth/reauthenticate/start', {})).statusCode, 200)
  await ada.signIn()
})

test('GRW-06 a user can export the account six times an hour, and a little more after re-authentication', async (t) => {
  const world = await limitedWorld(t)
  const ada = await world.person()
  const sessions = [ada.headers, await ada.signIn(), await ada.signIn()]
  const exportIn = (headers: Person['headers']) => () => asPerson(world, { headers })('GET', '/api/account/export')
  const passed = []
  for (const headers of sessions) passed.push((await statusesOf(8, exportIn(headers))).indexOf(429))
  assert.deepEqual(
    passed,
    [4, 4, 1],
    'six for all sessions, half of that for one, and one more for each re-authentication',
  )
  world.pass(3600)
  assert.equal((await exportIn(ada.headers)()).statusCode, 200)
})

test('GRW-07 an app can get ten test events an hour, from any caller', async (t) => {
  const world = await limitedWorld(t)
  const ask = async (clientId: ClientId, nth: number) => {
    const url = `/api/admin/apps/${clientId}/webhook/test`
    return world.api.inject({ method: 'POST', url, headers: world.admin, remoteAddress: `192.0.2.${nth}` })
  }
  const [one, other] = [await world.app(), await world.app()]
  for (const { clientId } of [one, other]) {
    const url = `/api/admin/apps/${clientId}/webhook`
    const payload = { url: 'http://localhost:9/hook' }
    assert.equal((await world.api.inject({ method: 'PUT', url, headers: world.admin, payload })).statusCode, 200)
  }
  assert.deepEqual(await statusesOf(12, (nth) => ask(one.clientId, nth)), thenLimited(10, 201, 2))
  assert.equal((await ask(other.clientId, 0)).statusCode, 201)
})

test('GRW-08 additions and changes by a session are counted, and revocations by its owner always work', async (t) => {
  const world = await limitedWorld(t, 'changes-per-user=20')
  const [ada, bob] = [await world.person(), await world.person()]
  const elsewhere = asPerson(world, { headers: await ada.signIn() })
  const ask = asPerson(world, ada)
  world.pass(301)
  const { passkeys } = (await ask('GET', '/api/auth/passkeys')).json()
  const renameIn = (session: typeof ask) => (nth: number) =>
    session('PATCH', `/api/auth/passkeys/${passkeys[0].credentialId}`, { name: `Passkey ${nth}` })
  assert.deepEqual(await statusesOf(12, renameIn(ask)), thenLimited(10, 200, 2))
  assert.deepEqual(await statusesOf(12, renameIn(elsewhere)), thenLimited(10, 200, 2))
  const adding = endpoints.filter(
    ({ endpoint: { method, config } }) => config.security === 'session' && !['GET', 'DELETE'].includes(method),
  )
  assert.ok(adding.length > 40, `${adding.length} endpoints`)
  for (const { endpoint } of adding) {
    const host = endpoint.config.host === 'business' ? world.business : world.api
    const url = endpoint.url.replaceAll(/:\w+/g, ada.identityId)
    const answer = await host.inject({ method: endpoint.method, url, headers: ada.headers, payload: {} })
    assert.deepEqual([answer.statusCode, answer.json().error], [429, 'rate_limited'], endpoint.name)
  }
  assert.equal((await elsewhere('POST', '/api/auth/passkeys/start', {})).json().error, 'rate_limited')

  const other = asPerson(world, { headers: await bob.signIn() })
  assert.equal((await other('POST', '/api/auth/passkeys/start', {})).statusCode, 200)
  assert.equal((await ask('GET', '/api/account/activity')).statusCode, 200)
  assert.equal((await elsewhere('DELETE', '/api/auth/sessions')).statusCode, 204)
  assert.equal((await ask('GET', '/api/auth/session')).statusCode, 401)
})

/** Checks that requests to repair an account, and to sign in to an app, are not answered 429. */
async function requireRepairable(world: TestWorld, { identityId, headers }: Pick<Person, 'identityId' | 'headers'>) {
  const app = await world.app()
  const ask = asPerson(world, { headers })
  const consent = { clientId: app.clientId, redirectUri: app.redirectUri, identityId, scope: 'openid' }
  for (const [method, url, payload, status] of [
    [
      'PUT',
      '/api/account/recovery',
      { recoveryAuth: randomBytes(32).toString('base64url'), ciphertext: 'a.b.c.d.e' },
      200,
    ],
    ['POST', '/api/auth/passkeys/start', {}, 200],
    ['POST', '/api/auth/reauthenticate/start', {}, 200],
    ['PATCH', `/api/identities/${identityId}`, { displayName: 'Ada again' }, 200],
    ['PATCH', '/api/developer/apps/app_none', { name: 'Ledger' }, 404],
    ['POST', '/api/account/device-approvals', { commitment: randomBytes(32).toString('base64url') }, 201],
    ['POST', '/api/oauth/authorize', { ...consent, responseType: 'code' }, 200],
  ] as const) {
    const answer = await ask(method, url, payload)
    assert.equal(answer.statusCode, status, `${url}: ${answer.body}`)
  }
}

/** Uses up the rate limits of a session: empty changes, names, authentications, apps, devices. */
async function useUp(world: TestWorld, session: Pick<Person, 'headers'>, identityId: IdentityId) {
  const ask = asPerson(world, session)
  const untilRefused = async (method: Method, url: string, payload: object) => {
    for (let nth = 0; nth < 2000; nth += 1)
      if ((await ask(method, url, payload)).json().error === 'rate_limited') return
    assert.fail(`${url} is never refused`)
  }
  const commitment = randomBytes(32).toString('base64url')
  await untilRefused('POST', '/api/auth/reauthenticate/start', {})
  await untilRefused('PATCH', `/api/identities/${identityId}`, { displayName: 'Stolen' })
  await untilRefused('PATCH', '/api/developer/apps/app_none', { name: 'Stolen' })
  await untilRefused('POST', '/api/account/device-approvals', { commitment })
  await untilRefused('PATCH', '/api/auth/passkeys/none', { name: 'Stolen' })
}

test('E2E-12 a user can create 60 app keys a day, and receives existing ones without limit', async (t) => {
  const world = await limitedWorld(t)
  const ada = await world.person()
  const app = await world.app({ supportsE2ee: true })
  const { clientId, redirectUri } = app
  const ask = asPerson(world, { headers: await ada.signIn() })
  const consent = (scope: string, parts: object) => {
    const { identityId } = ada
    return ask('POST', '/api/oauth/authorize', { clientId, redirectUri, identityId, scope, ...parts })
  }
  const reset = (nth: number) => consent('openid e2ee:reset', { encryptedAppKey: `sealed ${nth}` })
  const statuses = await statusesOf(61, reset)
  assert.equal(statuses.at(0), 200)
  assert.equal(statuses.at(-1), 429)
  assert.equal((await consent('openid', {})).statusCode, 200)
  assert.deepEqual(rateLimitPolicies['new-app-keys-per-user'], { points: 60, seconds: 24 * 3600 })
})

test('GRW-48 a stolen session uses up no limit that its owner needs to repair the account or to sign in', async (t) => {
  const world = await limitedWorld(t, 'changes-per-user=400')
  const ada = await world.person()
  const own = { ...ada, headers: await ada.signIn() }
  await useUp(world, ada, ada.identityId)
  assert.equal((await asPerson(world, own)('DELETE', '/api/auth/sessions')).statusCode, 204)
  await requireRepairable(world, own)
  world.pass(3000)
  await requireRepairable(world, { ...ada, headers: await ada.signIn() })
})

test('GRW-52 a stolen session uses up no exports, organizations, invitations or mails of its owner', async (t) => {
  const world = await limitedWorld(t)
  const ada = await world.person()
  const { identityId, handle } = ada
  const own = { ...ada, headers: await ada.signIn() }
  const acme = await createOrganization(world, own)
  type Use = (session: Person, nth: number) => ReturnType<typeof businessRequest>
  const uses: Record<string, Use> = {
    copies: (session) => asPerson(world, session)('GET', '/api/account/export'),
    organizations: (session) => businessRequest(world, session, 'POST /organizations', { name: 'Acme', identityId }),
    invitations: (session) =>
      businessRequest(world, session, `POST /organizations/${acme.id}/invitations`, { handle, role: 'member' }),
    mails: (session, nth) =>
      asPerson(world, session)('POST', `/api/identities/${identityId}/email`, { email: `ada${nth}@example.com` }),
  }
  for (const [name, use] of Object.entries(uses)) {
    const first = await use(ada, 0)
    assert.notEqual(first.statusCode, 429, name)
    for (let nth = 1; (await use(ada, nth)).statusCode !== 429; nth += 1) {
      assert.ok(nth < 200, `${name} are never refused`)
      await setImmediate()
    }
    const answer = await use(own, 0)
    assert.equal(answer.statusCode, first.statusCode, `${name}: ${answer.body}`)
  }
})

test('GRW-53 limits per user cannot be counted with a user ID alone', async () => {
  const [userId, sessionId] = [crypto.randomUUID(), asId<SessionId>(crypto.randomUUID())]
  // @ts-expect-error -- A stolen session would use it up.
  await noRateLimits.count('account-exports-per-user', userId)
  // @ts-expect-error -- The same.
  await noRateLimits.count('mails-per-user', userId)
  await noRateLimits.count('account-exports-per-user', { owner: userId, sessionId, isProved: false })
  const personal = Object.keys(rateLimitPolicies).filter((name) => name.endsWith('-per-user'))
  assert.equal(personal.length, 16, 'each of them, by its name')
})

test('GRW-49 the owner of the passkey can act even if stolen sessions have used up all limits', async (t) => {
  const world = await limitedWorld(t, 'changes-per-user=400')
  const ada = await world.person()
  const stolen = [ada.headers, await ada.signIn(), await ada.signIn()]
  world.pass(301)
  for (const headers of stolen) await useUp(world, { headers }, ada.identityId)
  const own = { ...ada, headers: await ada.signIn() }
  assert.equal((await asPerson(world, own)('DELETE', '/api/auth/sessions')).statusCode, 204)
  await requireRepairable(world, own)
  const rename = () => asPerson(world, own)('PATCH', '/api/auth/passkeys/none', { name: 'Mine' })
  const beyond = (await statusesOf(50, rename)).filter((status) => status === 404).length
  assert.ok(beyond > 20 && beyond < 40, `${beyond} beyond: a proof gives a tenth, and no more`)
  world.pass(301)
  assert.equal((await rename()).statusCode, 429, 'an older authentication gives nothing')
})

test('GRW-09 an app can send one user, or one organization, 600 signing requests an hour', async (t) => {
  const world = await limitedWorld(t, 'signing-requests-per-app-and-signer=4')
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const [shop, bank] = [signingRequesterOf(world, await world.app()), signingRequesterOf(world, await world.app())]
  const askAndDeny = async () => {
    const requested = await shop.request(ada.identityId)
    if (requested.statusCode === 201) await ada.deny(requested.json().requestId)
    return requested
  }
  assert.deepEqual(await statusesOf(6, askAndDeny), thenLimited(4, 201, 2))
  assert.equal((await shop.request(bob.identityId)).statusCode, 201)
  assert.equal((await bank.request(ada.identityId)).statusCode, 201)
  assert.deepEqual(rateLimitPolicies['signing-requests-per-app-and-signer'], { points: 600, seconds: 3600 })
  const nobody = crypto.randomUUID()
  assert.deepEqual(await statusesOf(5, () => shop.requestOf(nobody)), thenLimited(4, 404))
})

test('SGN-45 an address gets as many receipts as its limit allows, of users and apps together', async (t) => {
  const world = await limitedWorld(t, 'signing-receipts=4')
  const ada = await createSigner(world)
  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.request(ada.identityId)).json()
  await ada.sign(requestId, ada.pair.sign('Pay 10 €'))
  const own = () => asPerson(world, ada)('GET', `/api/signing/requests/${requestId}/receipt`)
  const url = `/api/signing/request/${requestId}/receipt?clientId=${shop.clientId}`
  const remoteAddress = '192.0.2.7'
  assert.deepEqual(await statusesOf(3, own), [200, 200, 200])
  assert.deepEqual(await statusesOf(3, () => world.api.inject({ url })), thenLimited(1, 200, 2))
  assert.equal((await own()).statusCode, 429)
  assert.deepEqual(
    await statusesOf(6, () => world.api.inject({ url: url.replace(requestId, crypto.randomUUID()), remoteAddress })),
    thenLimited(4, 404, 2),
  )
  assert.deepEqual(rateLimitPolicies['signing-receipts'], { points: 300, seconds: 60 })
})

test('SGN-46 a user starts as many approvals as their limit allows, whatever the result', async (t) => {
  const world = await limitedWorld(t, 'signing-approvals-per-user=8')
  const ada = await createSigner(world)
  world.pass(301)
  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.request(ada.identityId)).json()
  const start = (id: string) => () =>
    asPerson(world, ada)('POST', `/api/signing/requests/${id}/approval`, { role: 'self' })
  assert.deepEqual(await statusesOf(2, start(requestId)), [200, 200])
  assert.deepEqual(await statusesOf(4, start(crypto.randomUUID())), thenLimited(2, 404, 2))
  assert.equal((await start(requestId)()).json().error, 'rate_limited')
  assert.deepEqual(rateLimitPolicies['signing-approvals-per-user'], { points: 600, seconds: 3600 })
})

test('GRW-10 of the replaced signing keys, only the last one keeps its private key', async (t) => {
  const world = await createWorld()
  t.after(() => world.close())
  const ada = await createSigner(world)
  let { pair } = ada
  for (const encryptedPrivateKey of ['b.b.b.b.b', 'c.c.c.c.c', 'd.d.d.d.d']) {
    const next = newSigningPair()
    const answer = await ada.rotate(rotationOf(ada.identityId, pair, next, encryptedPrivateKey))
    assert.equal(answer.statusCode, 200, answer.body)
    pair = next
  }
  const [identity] = (await asPerson(world, ada)('GET', '/api/account/export')).json().identities
  assert.deepEqual(
    identity.signingKeys.map((key: { encryptedPrivateKey: string | null }) => key.encryptedPrivateKey),
    [null, null, 'c.c.c.c.c', 'd.d.d.d.d'],
  )
  const own = await asPerson(world, ada)('GET', `/api/signing/keys/${ada.identityId}`)
  assert.equal(own.json().encryptedPrivateKey, 'd.d.d.d.d')
  assert.equal(own.json().former.length, 3, 'the public keys stay: they verify earlier signatures')
})
