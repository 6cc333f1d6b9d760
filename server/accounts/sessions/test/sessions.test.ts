import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { auditEventsOf } from '#testing/audit-events.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { startBeside, startService } from '#testing/service.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { endpoints } from '#platform/process/openapi.ts'
import { pruneSessions } from '#accounts/sessions/session.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const page = { origin: 'http://localhost:4401' }
const day = 24 * 3600
type Headers = Record<string, string>
const get = (url: string, headers: Headers) => world.api.inject({ url, headers })
const end = (path: string, headers: Headers) =>
  world.api.inject({ method: 'DELETE', url: `/api/auth/sessions${path}`, headers })
const isSignedIn = async (headers: Headers) => (await get('/api/auth/session', headers)).statusCode === 200
const sessionsOf = async (headers: Headers) => (await get('/api/auth/sessions', headers)).json().sessions
const currentOf = async (headers: Headers): Promise<string> =>
  (await sessionsOf(headers)).find(({ current }: { current: boolean }) => current).sessionId

/** Signs in as a browser with this cookie. Returns the new token. */
async function signIn({ authenticator }: Pick<Person, 'authenticator'>, headers: Headers = {}): Promise<string> {
  const begin = { method: 'POST', url: '/api/auth/login/start', payload: {} } as const
  const { flowId, options } = (await world.api.inject(begin)).json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  const answer = await world.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload, headers })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().sessionToken
}
const passkeysOf = async (headers: Headers) => (await get('/api/auth/passkeys', headers)).json().passkeys.length
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

test('SES-13 a user lists their sessions and ends one of them', async () => {
  const person = await world.person()
  world.pass(90)
  const laptop = bearer(await signIn(person, { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' }))
  const sessions = await sessionsOf(laptop)
  assert.equal(sessions.length, 2)
  assert.deepEqual(Object.keys(sessions[0]).toSorted(), [
    'authMethod',
    'createdAt',
    'current',
    'lastSeenAt',
    'passkey',
    'sessionId',
    'userAgent',
  ])
  assert.deepEqual([sessions[0].current, sessions[1].current], [true, false])
  assert.match(sessions[0].userAgent, /Firefox/)
  assert.equal((await end(`/${sessions[1].sessionId}`, laptop)).statusCode, 204)
  assert.deepEqual([await isSignedIn(person.headers), await isSignedIn(laptop)], [false, true])
  const own = await end(`/${sessions[0].sessionId}`, laptop)
  assert.match(String([own.headers['set-cookie']].flat()[0]), /=; Path=\/; Max-Age=0;/)
  assert.equal(await isSignedIn(laptop), false)
  assert.equal((await auditEventsOf(world.db, person.userId, 'session.revoked')).length, 2)
})

test('SES-13 another user’s session and an unknown session cause the same response', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const answers = [
    await end(`/${await currentOf(person.headers)}`, other.headers),
    await end(`/${randomUUID()}`, other.headers),
  ]
  for (const answer of answers) assert.deepEqual([answer.statusCode, answer.body], [404, answers[1]?.body])
  assert.equal(answers[1]?.json().error, 'session_not_found')
  assert.equal(await isSignedIn(person.headers), true)
})

test('SES-13 a user ends all their other sessions and none of another user', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const others = [await person.signIn(), await person.signIn()]
  const answers = await Promise.all([end('', person.headers), end('', person.headers)])
  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [204, 204],
  )
  for (const headers of others) assert.equal(await isSignedIn(headers), false)
  for (const { headers } of [person, other]) assert.equal(await isSignedIn(headers), true)
  assert.deepEqual(
    (await auditEventsOf(world.db, person.userId, 'session.others_revoked')).map(
      ({ details }: { details: object }) => details,
    ),
    [{ count: 2 }],
  )
})

test('SES-01 signing in ends the previous session of the browser, of any user', async () => {
  const [person, other] = [await world.person(), await world.person()]
  for (const name of ['countersign', '__Host-countersign']) {
    const first = await signIn(person)
    const second = await signIn(person, { cookie: `${name}=${first}`, ...page })
    assert.notEqual(second, first)
    assert.deepEqual([await isSignedIn(bearer(first)), await isSignedIn(bearer(second))], [false, true])
    const third = await signIn(other, { cookie: `${name}=${second}`, ...page })
    assert.deepEqual([await isSignedIn(bearer(second)), await isSignedIn(bearer(third))], [false, true])
  }
  assert.equal(await isSignedIn(person.headers), true, 'the session of another browser')
  assert.equal((await auditEventsOf(world.db, person.userId, 'session.revoked')).length, 4)
})

test('SES-01 an invalid cookie ends no session and authenticates no user', async () => {
  const [person, other] = [await world.person(), await world.person()]
  const forged = `${other.sessionToken.slice(0, -1)}${other.sessionToken.endsWith('A') ? 'B' : 'A'}`
  for (const cookie of [`countersign=${forged}`, 'countersign=made-up', `countersign=${'x'.repeat(6000)}`]) {
    const token = await signIn(person, { cookie, ...page })
    assert.ok(!cookie.includes(token))
  }
  assert.equal(await isSignedIn(other.headers), true)
})

test('SES-02 a flow of one user stays theirs after another user signed in in the same browser', async () => {
  const [ada, grace] = [await world.person(), await world.person()]
  const app = await world.app()
  const { refresh_token: refreshToken } = await app.tokens(ada)
  const late = await app.code(ada)
  const cookie = `countersign=${ada.sessionToken}`
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: { cookie, ...page } })
  await signIn(grace, { cookie, ...page })
  assert.equal((await app.redeem(late)).json().error, 'invalid_grant')
  const refreshed = (await app.refresh(refreshToken)).json()
  const userinfo = await get('/api/oauth/userinfo', bearer(refreshed.access_token))
  assert.equal(userinfo.json().sub, ada.identityId)
})

test('SES-07 signing out revokes unredeemed codes, and redeemed tokens stay valid', async () => {
  const ends: Record<string, (person: Person) => Promise<unknown>> = {
    'sign out': ({ headers }) => world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers }),
    'end one': async (person) => end(`/${await currentOf(person.headers)}`, await person.signIn()),
    'end all others': async (person) => end('', await person.signIn()),
  }
  for (const [how, leave] of Object.entries(ends)) {
    const person = await world.person()
    const app = await world.app()
    const offline = await app.tokens(person)
    const code = await app.code(person)
    await leave(person)
    assert.equal(await isSignedIn(person.headers), false, how)
    assert.equal((await app.redeem(code)).json().error, 'invalid_grant', how)
    assert.equal((await get('/api/oauth/userinfo', bearer(offline.access_token))).statusCode, 200, how)
    assert.equal((await app.refresh(offline.refresh_token)).statusCode, 200, how)
  }
})

test('SES-07 only an app with offline_access gets a refresh token', async () => {
  const person = await world.person()
  const tokens = await (await world.app()).tokens(person, { scope: 'openid profile' })
  assert.equal(tokens.refresh_token, undefined)
})

test('SES-04 the cleanup deletes sessions that were idle for thirty days and no others', async () => {
  const [idle, busy] = [await world.person(), await world.person()]
  world.pass(29 * day)
  assert.equal(await isSignedIn(busy.headers), true)
  world.pass(day)
  const rows = async ({ userId }: Person) =>
    (await world.db.selectFrom('session').select('session_id').where('user_id', '=', userId).execute()).length
  while ((await pruneSessions(world.db, world.now(), 3)) > 0) {
    // Batch after batch until nothing is left, like the cleanup.
  }
  assert.deepEqual([await rows(idle), await rows(busy)], [0, 1])
  assert.equal(await isSignedIn(busy.headers), true)
})

test('an ended session is rejected at once, also for a concurrent request', async () => {
  const person = await world.person()
  const other = await person.signIn()
  await Promise.all([end('', person.headers), isSignedIn(other)])
  assert.equal(await isSignedIn(other), false)
})

test('SES-12 an assertion that signed in once cannot re-authenticate later', async () => {
  const person = await world.person()
  const start = { method: 'POST', url: '/api/auth/reauthenticate/start', headers: person.headers } as const
  const first = (await world.api.inject(start)).json()
  const credential = person.authenticator.authenticate(first.options)
  const finish = (payload: object) =>
    world.api.inject({ method: 'POST', url: '/api/auth/reauthenticate/finish', headers: person.headers, payload })
  assert.equal((await finish({ flowId: first.flowId, credential })).statusCode, 200)
  world.pass(301)
  assert.equal((await finish({ flowId: first.flowId, credential })).json().error, 'invalid_flow')
  const second = (await world.api.inject(start)).json()
  assert.equal((await finish({ flowId: second.flowId, credential })).json().error, 'invalid_credential')
  const { authTime } = (await get('/api/auth/session', person.headers)).json()
  assert.equal(world.now().getTime() - Date.parse(authTime), 301_000)
})

test('SES-10 naming a user or an identity in the body does not authenticate as that user', async () => {
  const person = await world.person()
  const ids = { userId: person.userId, identityId: person.identityId, sessionId: await currentOf(person.headers) }
  const authenticator = createAuthenticator({ origin: page.origin, rpId: 'localhost' })
  const challenge = { challenge: 'AAAA', user: { id: 'AAAA', name: '', displayName: '' } }
  const credential = authenticator.register(challenge)
  const guarded = endpoints.filter(({ endpoint: { config } }) => config.security === 'session')
  assert.ok(guarded.length > 90)
  for (const { endpoint } of guarded) {
    const { method, config, name } = endpoint
    const host = config.host === 'business' ? world.business : world.api
    const url = endpoint.url.replaceAll(/:\w+/g, person.identityId)
    const naming = new URLSearchParams({ identity_id: person.identityId, identityId: person.identityId })
    const payload = { ...ids, identity_id: person.identityId, flowId: randomUUID(), credential }
    const answer = await host.inject({ method, url: `${url}?${naming}`, ...(method !== 'GET' && { payload }) })
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'unauthorized'], name)
  }
  assert.equal(await isSignedIn(person.headers), true)
})

test('BLK-13 a user has at most a hundred sessions: the least recently used one ends', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  world.pass(90)
  const second = bearer(await signIn(person))
  world.pass(1)
  for (let count = 2; count < 100; count += 1) await signIn(person)
  assert.equal((await sessionsOf(second)).length, 100)
  world.pass(90)
  assert.equal(await isSignedIn(person.headers), true, 'this counts as a use')
  const kept = await app.code(person)
  await signIn(person)
  assert.equal((await sessionsOf(person.headers)).length, 100)
  await Promise.all([signIn(person), signIn(person)])
  assert.equal((await sessionsOf(person.headers)).length, 100)
  assert.deepEqual([await isSignedIn(person.headers), await isSignedIn(second)], [true, false])
  assert.equal((await auditEventsOf(world.db, person.userId, 'session.too_many')).length, 3)
  assert.deepEqual([(await app.redeem(code)).statusCode, (await app.redeem(kept)).statusCode], [400, 200])
})

test('BLK-13 a code is revoked with the session that exceeded the limit', async () => {
  const person = await world.person()
  const app = await world.app()
  const code = await app.code(person)
  world.pass(1)
  await Promise.all(Array.from({ length: 64 }, () => signIn(person)))
  assert.equal(await isSignedIn(person.headers), true)
  await Promise.all(Array.from({ length: 64 }, () => signIn(person)))
  const left = await world.db.selectFrom('session').select('session_id').where('user_id', '=', person.userId).execute()
  assert.equal(left.length, 100, 'also for concurrent sign-ins')
  assert.equal(await isSignedIn(person.headers), false)
  assert.equal((await app.redeem(code)).statusCode, 400)
})

test('BLK-14 an identity provider cannot sign members out elsewhere by signing in often', async () => {
  const person = await world.person()
  const phone = bearer(await signIn(person))
  world.pass(90)
  for (let count = 0; count < 102; count += 1) await signInByOrganization(world, person)
  const still = await Promise.all([person.headers, phone].map(isSignedIn))
  assert.deepEqual(still, [true, true])
  assert.equal((await sessionsOf(phone)).length, 100)
})

test('BLK-15 no code issued concurrently with the end of its session stays valid', async () => {
  const person = await world.person()
  const app = await world.app()
  for (let round = 0; round < 15; round += 1) {
    const headers = bearer(await signIn(person))
    const given = Array.from({ length: 6 }, () => app.code({ ...person, headers }).catch(() => undefined))
    const ended = await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers })
    assert.equal(ended.statusCode, 204)
    for (const code of await Promise.all(given))
      if (code !== undefined) assert.equal((await app.redeem(code)).statusCode, 400, `round ${round}`)
  }
})

test('BLK-15 no passkey is added concurrently with the end of the session', async () => {
  const person = await world.person()
  for (let round = 0; round < 8; round += 1) {
    const headers = bearer(await signIn(person))
    const begin = { method: 'POST', url: '/api/auth/passkeys/start', headers, payload: {} } as const
    const { flowId, options } = (await world.api.inject(begin)).json()
    const authenticator = createAuthenticator({ origin: 'http://localhost:4401', rpId: 'localhost' })
    const payload = { flowId, credential: authenticator.register(options) }
    const add = world.api.inject({ method: 'POST', url: '/api/auth/passkeys/finish', headers, payload })
    assert.equal((await end('', person.headers)).statusCode, 204)
    const there = await passkeysOf(person.headers)
    await add
    assert.deepEqual(await passkeysOf(person.headers), there)
  }
})

// Two nodes need a shared PostgreSQL; the embedded database cannot be shared.
if (process.env['TEST_DATABASE_URL'] !== undefined)
  test('SES-06 a session that ends on one node is rejected at once by another', async (t) => {
    const service = await startService()
    t.after(() => service.close())
    const nodes = [service.baseUrl, (await startBeside(t, service)).baseUrl]
    const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
    const post = async (base: string, path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(`${base}/api/auth/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
      assert.ok(answer.ok, `${path}: ${answer.status}`)
      return JSON.parse(await answer.text())
    }
    const registering = await post(service.baseUrl, 'register/start', { handle: 'ada-here', displayName: 'Ada' })
    const registration = authenticator.register(registering.options)
    await post(service.baseUrl, 'register/finish', { flowId: registering.flowId, credential: registration })
    const signIn = async (): Promise<Record<string, string>> => {
      const { flowId, options } = await post(service.baseUrl, 'login/start', {})
      const finish = { flowId, credential: authenticator.authenticate(options) }
      return { authorization: `Bearer ${(await post(service.baseUrl, 'login/finish', finish)).sessionToken}` }
    }
    const status = async (base: string, headers: Record<string, string>) =>
      (await fetch(`${base}/api/auth/session`, { headers })).status

    for (const [ending, requested] of [nodes, nodes.toReversed()])
      for (let round = 0; round < 5; round += 1) {
        const headers = await signIn()
        // Any cache of the session on a node is now filled.
        for (const base of nodes) assert.equal(await status(base, headers), 200)
        const ended = await fetch(`${ending}/api/auth/session`, { method: 'DELETE', headers })
        assert.equal(ended.status, 204)
        assert.equal(await status(requested ?? '', headers), 401)
      }
  })

test('the list tells with which passkey a session was opened, also after that passkey was renamed', async () => {
  const person = await world.person()
  await person.signIn()
  const [passkey] = (await get('/api/auth/passkeys', person.headers)).json().passkeys
  const url = `/api/auth/passkeys/${passkey.credentialId}`
  await world.api.inject({ method: 'PATCH', url, headers: person.headers, payload: { name: 'Blue key' } })
  for (const { authMethod, passkey: used } of await sessionsOf(person.headers))
    assert.deepEqual([authMethod, used], ['passkey', { credentialId: passkey.credentialId, name: 'Blue key' }])
})
