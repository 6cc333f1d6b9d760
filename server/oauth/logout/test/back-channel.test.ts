import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, type JSONWebKeySet } from 'jose'
import { sql } from 'kysely'
import type { NewApp } from '@countersign/protocol/clients/apps'
import { pruneSessions } from '#accounts/sessions/session.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { cookieIn } from '#testing/federated-browser.ts'
import { businessRequest, join, createOrganization } from '#testing/organization.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { startLogoutSender, type LogoutSender } from '#oauth/logout/sender.ts'

const issuer = 'http://localhost:4401'
let world: TestWorld
let sender: LogoutSender
let receiver: Awaited<ReturnType<typeof startWebhookReceiver>>
before(async () => {
  world = await createWorld()
})
after(() => world.close())
beforeEach(async () => {
  receiver = await startWebhookReceiver()
  sender = startLogoutSender({ kernel: world.kernel, keys: await loadTokenSigningKeys(world.kernel) })
})
afterEach(async () => {
  await sender.stop()
  await receiver.close()
})

type Headers = Record<string, string>
type Signed = { headers: Headers; identityId: string }

const appHearing = (settings: Partial<NewApp> = {}) => world.app({ backchannelLogoutUri: receiver.url, ...settings })
const send = (method: 'GET' | 'POST' | 'DELETE' | 'PATCH' | 'PUT', url: string, headers: Headers, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload && { payload }) })

/** Returns the `sid` that an app gets for the session of a user who signs in to it. */
async function sidAt(app: TestApp, person: Signed, requested: Record<string, string> = {}): Promise<unknown> {
  const { id_token: idToken = '' } = await app.tokens(person, { scope: 'openid', ...requested })
  return decodeJwt(idToken)['sid']
}

/** Verifies the logout tokens that an app received, by the rules of Back-Channel Logout §2.6. */
async function logoutsOf(app: Pick<TestApp, 'clientId'>, count: number) {
  const received = await receiver.has(count)
  const keySet: JSONWebKeySet = (await world.auth.inject('/.well-known/jwks.json')).json()
  const tokens = received.map(({ headers, body }) => {
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
    return new URLSearchParams(body).get('logout_token') ?? ''
  })
  const own = tokens.filter((token) => decodeJwt(token).aud === app.clientId)
  return Promise.all(
    own.map(async (token) => {
      const { payload } = await jwtVerify(token, createLocalJWKSet(keySet), {
        issuer,
        audience: app.clientId,
        typ: 'logout+jwt',
        requiredClaims: ['iat', 'exp', 'jti', 'events', 'sub', 'sid'],
        currentDate: world.now(),
      })
      assert.deepEqual(payload['events'], { 'http://schemas.openid.net/event/backchannel-logout': {} })
      assert.equal('nonce' in payload, false)
      assert.ok((payload.exp ?? 0) - (payload.iat ?? 0) <= 120)
      return { token, sub: payload.sub, sid: payload['sid'], jti: payload.jti }
    }),
  )
}

/** Counts pending logout tokens; accepted ones are deleted. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from session_logout`.execute(world.db)
  return rows[0]?.count ?? 0
}

/** Resolves when no token is pending: an attempt is recorded after the receiver has answered. */
async function waitUntilResolved(): Promise<void> {
  // Lets network events run between the queries.
  while ((await waiting()) > 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('discovery states support of back-channel logout with sid', async () => {
  const metadata = (await world.auth.inject('/.well-known/openid-configuration')).json()
  assert.equal(metadata.backchannel_logout_supported, true)
  assert.equal(metadata.backchannel_logout_session_supported, true)
})

for (const algorithm of ['RS256', 'ES256', 'EdDSA'] as const)
  test(`BCL-02 an app receives a logout token signed by its algorithm on sign-out: ${algorithm}`, async () => {
    const person = await world.person()
    const [app, other] = [await appHearing({ idTokenSignedResponseAlg: algorithm }), await appHearing()]
    const [sid, otherSid] = [await sidAt(app, person), await sidAt(other, person)]
    assert.notEqual(sid, otherSid)
    assert.equal((await send('DELETE', '/api/auth/session', person.headers)).statusCode, 204)
    const [logout, ...more] = await logoutsOf(app, 2)
    assert.ok(logout)
    assert.deepEqual([logout.sub, logout.sid, more], [person.identityId, sid, []])
    assert.equal(decodeProtectedHeader(logout.token).alg, algorithm)
    assert.equal((await logoutsOf(other, 2))[0]?.sid, otherSid)
    await waitUntilResolved()
  })

test('BCL-03 only apps with an ID token of the ended session get a logout token, each one', async () => {
  const [person, stranger] = [await world.person(), await world.person()]
  const app = await appHearing()
  const elsewhere = { ...person, headers: await person.signIn() }
  const sid = await sidAt(app, elsewhere)
  for (const requested of [{ scope: '' }, { scope: 'openid profile' }]) await app.tokens(elsewhere, requested)
  await sidAt(app, person)
  await sidAt(app, stranger)
  await sidAt(await world.app(), elsewhere)
  await (await appHearing()).tokens(elsewhere, { scope: 'profile' })
  await send('DELETE', '/api/auth/session', elsewhere.headers)
  await waitUntilResolved()
  assert.deepEqual(
    (await logoutsOf(app, 1)).map((logout) => logout.sid),
    [sid],
  )
  assert.equal(receiver.received.length, 1)
})

async function disconnectApp({ headers }: Signed, { clientId }: TestApp) {
  const { authorizations } = (await send('GET', '/api/oauth/authorizations', headers)).json<{
    authorizations: { id: string; clientId: string }[]
  }>()
  const { id } = authorizations.find((each) => each.clientId === clientId) ?? {}
  return send('DELETE', `/api/oauth/authorizations/${id}`, headers)
}

const endings: Record<string, (person: Person, app: TestApp) => Promise<{ statusCode: number; body: string }>> = {
  'signing out elsewhere': async (person) => send('DELETE', '/api/auth/sessions', await person.signIn()),
  'ending one session from another': async (person) => {
    const headers = await person.signIn()
    const { sessions } = (await send('GET', '/api/auth/sessions', headers)).json<{
      sessions: { sessionId: string; current: boolean }[]
    }>()
    const other = sessions.find(({ current }) => !current)
    return send('DELETE', `/api/auth/sessions/${other?.sessionId}`, headers)
  },
  'a sign-out requested by an app': async (person) => {
    const asking = await world.app()
    const { id_token: idTokenHint } = await asking.tokens(person)
    return send('POST', '/api/auth/session/end', person.headers, { idTokenHint })
  },
  'removing the passkey that opened the session': async (person) => {
    const started = (await send('POST', '/api/auth/passkeys/start', person.headers, {})).json()
    const authenticator = createAuthenticator({ origin: issuer, rpId: world.config.relyingPartyId })
    const added = { flowId: started.flowId, credential: authenticator.register(started.options) }
    await send('POST', '/api/auth/passkeys/finish', person.headers, added)
    return send('DELETE', `/api/auth/passkeys/${person.authenticator.credentialId}`, person.headers)
  },
  'a hundred later sign-ins': async (person) => {
    world.pass(1)
    for (let count = 1; count < 100; count += 1) await person.signIn()
    const { flowId, options } = (await send('POST', '/api/auth/login/start', {}, {})).json()
    return send(
      'POST',
      '/api/auth/login/finish',
      {},
      { flowId, credential: person.authenticator.authenticate(options) },
    )
  },
  'disconnecting the app': disconnectApp,
  'deleting the identity': async (person) => {
    const second = { handle: `second-${randomBytes(6).toString('hex')}`, displayName: 'Second' }
    await send('POST', '/api/identities', person.headers, second)
    return send('DELETE', `/api/identities/${person.identityId}`, person.headers)
  },
  'deleting the account': (person) => send('DELETE', '/api/account', person.headers),
  recovery: async (person) => {
    const recoveryAuth = randomBytes(32).toString('base64url')
    await send('PUT', '/api/account/recovery', person.headers, { recoveryAuth, ciphertext: 'x' })
    const started = await send('POST', '/api/auth/recover/start', {}, { handle: person.handle, recoveryAuth })
    const { flowId, options } = started.json()
    const authenticator = createAuthenticator({ origin: issuer, rpId: world.config.relyingPartyId })
    return send('POST', '/api/auth/recover/finish', {}, { flowId, credential: authenticator.register(options) })
  },
}
for (const [what, end] of Object.entries(endings))
  test(`BCL-04 an app gets a logout token when a session ends by ${what}`, async () => {
    const [person, app] = [await world.person(), await appHearing()]
    const sid = await sidAt(app, person)
    const answer = await end(person, app)
    assert.ok(answer.statusCode < 300, answer.body)
    const [logout] = await logoutsOf(app, 1)
    assert.deepEqual([logout?.sub, logout?.sid], [person.identityId, sid])
    await waitUntilResolved()
    assert.equal(receiver.received.length, 1)
  })

for (const how of ['is removed', 'leaves'] as const)
  test(`BCL-04 an app used for an organization gets a logout token when the member ${how}`, async () => {
    const [owner, person, app] = [await world.person(), await world.person(), await appHearing()]
    const { id } = await createOrganization(world, owner)
    const { memberId } = await join(world, { id, owner, role: 'member' }, person)
    const sid = await sidAt(app, person, { organizationId: id })
    const headers = await signInByOrganization(world, person, { organizationId: id })
    const sidThere = await sidAt(app, { ...person, headers }, { organizationId: id })
    await sidAt(app, owner, { organizationId: id })
    const acting = how === 'leaves' ? person : owner
    const removed = await businessRequest(world, acting, `DELETE /organizations/${id}/members/${memberId}`)
    assert.equal(removed.statusCode, 204, removed.body)
    const logouts = await logoutsOf(app, 2)
    assert.deepEqual(new Set(logouts.map((logout) => logout.sid)), new Set([sid, sidThere]))
    await waitUntilResolved()
    assert.equal(receiver.received.length, 2)
  })

for (const how of ['the operator suspends it', 'it is deleted'] as const)
  test(`BCL-04 apps used for an organization get a logout token when ${how}`, async () => {
    const [owner, person, app] = [await world.person(), await world.person(), await appHearing()]
    const { id } = await createOrganization(world, owner)
    await join(world, { id, owner, role: 'member' }, person)
    const sids = [await sidAt(app, owner, { organizationId: id }), await sidAt(app, person, { organizationId: id })]
    await sidAt(app, await world.person())
    const url = `/api/admin/organizations/${id}`
    const answer = await (how === 'it is deleted'
      ? businessRequest(world, owner, `DELETE /organizations/${id}`)
      : send('PATCH', url, world.admin, { status: 'suspended' }))
    assert.ok(answer.statusCode < 300, answer.body)
    const logouts = await logoutsOf(app, 2)
    assert.deepEqual(new Set(logouts.map((logout) => logout.sid)), new Set(sids))
    await waitUntilResolved()
    assert.equal(receiver.received.length, 2, 'no other session')
  })

test('BCL-05 a rejected logout token is sent again with the same jti, and redirects are not followed', async () => {
  const answers = [500, { status: 302, headers: { location: '/elsewhere' } }, 200]
  const stubborn = await startWebhookReceiver(answers)
  try {
    const [person, app] = [await world.person(), await appHearing({ backchannelLogoutUri: stubborn.url })]
    await sidAt(app, person)
    await send('DELETE', '/api/auth/session', person.headers)
    await stubborn.has(1)
    for (const [count, seconds] of [
      [2, 7],
      [3, 400],
    ] as const) {
      await untilPostponed()
      world.pass(seconds)
      await stubborn.has(count)
    }
    await waitUntilResolved()
    const claims = stubborn.received.map(({ body }) => decodeJwt(new URLSearchParams(body).get('logout_token') ?? ''))
    assert.equal(new Set(claims.map(({ jti }) => jti)).size, 1)
    assert.equal(new Set(claims.map(({ iat }) => iat)).size, 3, 'each attempt is signed again')
    assert.deepEqual(new Set(stubborn.received.map(({ url }) => url)), new Set(['/hook']))
  } finally {
    await stubborn.close()
  }
})

/**
 * Resolves when an attempt has failed and the next one is scheduled: pending attempts are due when their lease ends.
 */
async function untilPostponed(): Promise<void> {
  const leaseEndsAt = new Date(world.now().getTime() + 30_000)
  const postponed = () =>
    world.db
      .selectFrom('session_logout')
      .select('logout_id')
      .where('next_attempt_at', '>', world.now())
      .where('next_attempt_at', '!=', leaseEndsAt)
      .execute()
  while ((await postponed()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
}

test('BCL-06 an answer of 400 ends the delivery', async () => {
  const refusing = await startWebhookReceiver([400])
  try {
    const [person, app] = [await world.person(), await appHearing({ backchannelLogoutUri: refusing.url })]
    await sidAt(app, person)
    await send('DELETE', '/api/auth/session', person.headers)
    await refusing.has(1)
    await waitUntilResolved()
    assert.equal(refusing.received.length, 1)
  } finally {
    await refusing.close()
  }
})

test('BCL-07 a logout token is rejected as ID token and as access token', async () => {
  const [person, app] = [await world.person(), await appHearing()]
  const headers = await person.signIn()
  await sidAt(app, { ...person, headers })
  await send('DELETE', '/api/auth/session', headers)
  const [logout] = await logoutsOf(app, 1)
  await waitUntilResolved()
  const token = logout?.token ?? ''
  const ended = await send('POST', '/api/auth/session/end', person.headers, { idTokenHint: token })
  assert.deepEqual([ended.statusCode, ended.json().error], [403, 'interaction_required'])
  const userinfo = await send('GET', '/api/oauth/userinfo', { authorization: `Bearer ${token}` })
  assert.deepEqual([userinfo.statusCode, userinfo.json().error], [401, 'invalid_token'])
})

/** Signs in with the cookie of an existing session; returns the cookie of the new one. */
async function signInWith(person: Person, cookie?: string): Promise<string> {
  const { flowId, options } = (await send('POST', '/api/auth/login/start', {}, {})).json()
  const payload = { flowId, credential: person.authenticator.authenticate(options) }
  const headers = cookie === undefined ? {} : { cookie: `countersign=${cookie}`, origin: issuer }
  const answer = await send('POST', '/api/auth/login/finish', headers, payload)
  assert.equal(answer.statusCode, 200, answer.body)
  return cookieIn(answer, 'countersign') ?? ''
}
const withCookie = (cookie: string) => ({ cookie: `countersign=${cookie}`, origin: issuer })

test('BCL-08 signing in again in the same browser sends no logout; ending the later session ends both', async () => {
  const [person, app] = [await world.person(), await appHearing()]
  const first = await signInWith(person)
  const sid = await sidAt(app, { ...person, headers: withCookie(first) })
  const second = await signInWith(person, first)
  assert.equal((await send('GET', '/api/auth/session', withCookie(first))).statusCode, 401)
  assert.equal(await waiting(), 0)
  const laterSid = await sidAt(app, { ...person, headers: withCookie(second) })
  await send('DELETE', '/api/auth/session', withCookie(second))
  const logouts = await logoutsOf(app, 2)
  assert.deepEqual(new Set(logouts.map((logout) => logout.sid)), new Set([sid, laterSid]))
  await waitUntilResolved()
})

test('BCL-08 an app gets the sid of its ID token when that token signs out a later session', async () => {
  const [person, app] = [await world.person(), await appHearing()]
  const first = await signInWith(person)
  const { id_token: idTokenHint = '' } = await app.tokens(
    { ...person, headers: withCookie(first) },
    { scope: 'openid' },
  )
  const second = await signInWith(person, await signInWith(person, first))
  assert.equal((await send('POST', '/api/auth/session/end', withCookie(second), { idTokenHint })).statusCode, 204)
  assert.deepEqual(
    (await logoutsOf(app, 1)).map((logout) => [logout.sub, logout.sid]),
    [[person.identityId, decodeJwt(idTokenHint)['sid']]],
  )
  await waitUntilResolved()
})

test('BCL-08 a sign-in of another user in the same browser ends the session of the first user', async () => {
  const [person, other, app] = [await world.person(), await world.person(), await appHearing()]
  const first = await signInWith(person)
  const sid = await sidAt(app, { ...person, headers: withCookie(first) })
  await signInWith(other, first)
  assert.deepEqual(
    (await logoutsOf(app, 1)).map((logout) => [logout.sub, logout.sid]),
    [[person.identityId, sid]],
  )
  await waitUntilResolved()
})

test('BCL-09 an expired session sends no logout, but a later sign-out still does', async () => {
  const [person, app] = [await world.person(), await appHearing()]
  const sid = await sidAt(app, person)
  world.pass(91 * 24 * 3600)
  await pruneSessions(world.db, world.now(), 1000)
  assert.equal(await waiting(), 0)
  await disconnectApp({ ...person, headers: await person.signIn() }, app)
  assert.deepEqual(
    (await logoutsOf(app, 1)).map((logout) => logout.sid),
    [sid],
  )
  await waitUntilResolved()
  assert.equal(receiver.received.length, 1)
})

test('a deleted app, and one without a logout URI, gets no logout token', async () => {
  const person = await world.person()
  const [gone, changed] = [await appHearing(), await appHearing()]
  for (const app of [gone, changed]) await sidAt(app, person)
  await send('DELETE', `/api/admin/apps/${gone.clientId}`, world.admin)
  await send('PATCH', `/api/admin/apps/${changed.clientId}`, world.admin, { backchannelLogoutUri: null })
  await send('DELETE', '/api/auth/session', person.headers)
  await waitUntilResolved()
  assert.equal(receiver.received.length, 0)
})
