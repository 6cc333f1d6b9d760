import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createAuthenticator } from '#testing/authenticator.ts'
import { createConnectors, delegationsOf } from '#testing/connectors.ts'
import { openBrowser, newParams } from '#testing/federated-browser.ts'
import { countAlive, fillCodes, fillSessions, manyRows } from '#testing/many-rows.ts'
import { sibling } from '#testing/operators.ts'
import { businessRequest, createOrganization, reauthenticate } from '#testing/organization.ts'
import { createSigner, newSigningPair, signingRequesterOf } from '#testing/signer.ts'
import { type Person, createWorld, postForm, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const reason = 'Left the company'
type Answer = { statusCode: number; json: () => { error?: string } }
const refusalOf = (answer: Answer) => [answer.statusCode, answer.json().error]

const operate = (method: 'POST' | 'DELETE', identityId: string, what: string, payload?: object) =>
  world.api.inject({
    method,
    url: `/api/admin/identities/${identityId}/${what}`,
    headers: world.admin,
    ...(payload && { payload }),
  })
const send = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, who: Headers, payload?: object) =>
  world.api.inject({ method, url, headers: who.headers, ...(payload && { payload }) })
type Headers = { headers: Record<string, string> }

async function suspend(identityId: string, fields: object = {}) {
  const answer = await operate('POST', identityId, 'suspension', { reason, ...fields })
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function activate(identityId: string) {
  assert.equal((await operate('DELETE', identityId, 'suspension')).statusCode, 204)
}

/** Tries to sign in with the user's passkey. */
async function tryToSignIn({ authenticator }: Pick<Person, 'authenticator'>) {
  const started = await world.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const { flowId, options } = started.json()
  const payload = { flowId, credential: authenticator.authenticate(options) }
  return world.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
}

async function userinfo(token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` }
  return (await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode
}

test('PKY-23 a suspended account has no session, and reads the reason only after its passkey', async () => {
  const person = await world.person()
  const other = await person.signIn()
  const until = new Date(world.now().getTime() + 3_600_000).toISOString()
  assert.deepEqual(await suspend(person.identityId, { until }), {
    identityId: person.identityId,
    scope: 'account',
    reason,
    suspendedAt: world.now().toISOString(),
    until,
  })
  for (const headers of [person.headers, other])
    assert.deepEqual(refusalOf(await send('GET', '/api/auth/session', { headers })), [401, 'unauthorized'])
  const refused = await tryToSignIn(person)
  assert.deepEqual(refusalOf(refused), [403, 'account_suspended'])
  assert.deepEqual([refused.json().reason, refused.json().until], [reason, until])

  // Someone without a passkey of the account learns nothing.
  const stranger = await world.person()
  const started = await world.api.inject({ method: 'POST', url: '/api/auth/login/start', payload: {} })
  const forged = stranger.authenticator.authenticate(started.json().options, {
    credentialId: Buffer.from(person.authenticator.credentialId, 'base64url'),
  })
  const payload = { flowId: started.json().flowId, credential: forged }
  const unknown = await world.api.inject({ method: 'POST', url: '/api/auth/login/finish', payload })
  assert.deepEqual(refusalOf(unknown), [401, 'invalid_credential'])

  await activate(person.identityId)
  assert.equal((await send('GET', '/api/auth/session', { headers: other })).statusCode, 401, 'no session returns')
  assert.equal((await tryToSignIn(person)).statusCode, 200)
})

test('a suspended account can neither recover nor finish a ceremony that it began before', async () => {
  const person = await world.person()
  const recoveryAuth = randomBytes(32).toString('base64url')
  const kept = await send('PUT', '/api/account/recovery', person, { recoveryAuth, ciphertext: 'a.b.c.d.e' })
  assert.equal(kept.statusCode, 200, kept.body)
  const start = (auth: string) =>
    world.api.inject({
      method: 'POST',
      url: '/api/auth/recover/start',
      payload: { handle: person.handle, recoveryAuth: auth },
    })
  const begun = (await start(recoveryAuth)).json()
  await suspend(person.identityId)
  const { origin } = world.config.authUrl
  const authenticator = createAuthenticator({ origin, rpId: world.config.relyingPartyId })
  const payload = { flowId: begun.flowId, credential: authenticator.register(begun.options) }
  const finished = await world.api.inject({ method: 'POST', url: '/api/auth/recover/finish', payload })
  assert.deepEqual(refusalOf(finished), [400, 'invalid_flow'])
  assert.deepEqual(refusalOf(await start(recoveryAuth)), [403, 'account_suspended'])
  const wrong = await start(randomBytes(32).toString('base64url'))
  assert.deepEqual(refusalOf(wrong), [401, 'invalid_credential'])

  await activate(person.identityId)
  assert.equal((await start(recoveryAuth)).statusCode, 200, 'the code was not used up')
})

test('COD-16 REF-08 no token of a suspended account works, and none returns when it is activated', async () => {
  const person = await world.person()
  const app = await world.app()
  const tokens = await app.tokens(person)
  const unredeemed = await app.code(person)
  const introspect = async (token: string) =>
    (await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token })).json()
  assert.equal(await userinfo(tokens.access_token_jwt), 200)

  await suspend(person.identityId)
  for (const isActive of [false, true]) {
    if (isActive) await activate(person.identityId)
    assert.deepEqual(refusalOf(await app.redeem(unredeemed)), [400, 'invalid_grant'])
    assert.deepEqual(refusalOf(await app.refresh(tokens.refresh_token)), [400, 'invalid_grant'])
    for (const token of [tokens.access_token, tokens.access_token_jwt]) {
      assert.equal(await userinfo(token), 401)
      assert.deepEqual(await introspect(token), { active: false })
    }
    assert.deepEqual(await introspect(tokens.refresh_token), { active: false })
  }
  const again = { ...person, headers: await person.signIn() }
  assert.equal(await userinfo((await app.tokens(again)).access_token), 200)
  const { authorizations } = (await send('GET', '/api/oauth/authorizations', again)).json()
  assert.equal(authorizations.length, 1, 'the consent stayed')
})

test('DEL-07 delegations of a suspended account are revoked for good', async () => {
  const connectors = await createConnectors(world)
  const { person, subjectToken, exchange } = await connectors.connected()
  const { access_token: delegated } = await connectors.delegated(subjectToken)
  const isActive = async () => (await connectors.introspect(connectors.target, delegated)).json().active
  assert.equal(await isActive(), true)
  await suspend(person.identityId)
  assert.equal(await isActive(), false)
  assert.deepEqual(refusalOf(await exchange()), [403, 'access_denied'])
  await activate(person.identityId)
  assert.equal(await isActive(), false)
  const again = { ...person, headers: await person.signIn() }
  const fresh = await connectors.source.tokens(again)
  assert.deepEqual(refusalOf(await connectors.exchange(fresh.access_token_jwt)), [403, 'access_denied'])
  const [listed] = await delegationsOf(world, again)
  assert.equal(listed.status, 'revoked')
})

test('pending signing requests of a suspended account expire, and it gets no others', async () => {
  const signer = await createSigner(world)
  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.request(signer.identityId)).json()
  await suspend(signer.identityId)
  assert.equal((await shop.status(requestId)).json().status, 'expired')
  assert.deepEqual(refusalOf(await shop.request(signer.identityId)), [404, 'identity_not_found'])
  const key = () => world.api.inject({ url: `/api/signing/public-key/${signer.handle}` })
  assert.equal((await key()).statusCode, 200, 'what was signed can be verified')
  await activate(signer.identityId)
  assert.equal((await shop.request(signer.identityId)).statusCode, 201)
})

test('a suspended identity is not offered, and the others of its account continue', async () => {
  const person = await world.person()
  const held = await sibling(world, person)
  const app = await world.app()
  const [own, lost] = [await app.tokens(person), await app.tokens(held)]
  const { id } = await createOrganization(world, held)
  const browser = await openBrowser(world, held)
  await suspend(held.identityId, { scope: 'identity' })

  assert.deepEqual([await userinfo(own.access_token), await userinfo(lost.access_token)], [200, 401])
  const named = async (url: string) => (await send('GET', url, person)).json().identities
  for (const url of ['/api/identities', '/api/auth/session'])
    assert.deepEqual(
      (await named(url)).map(({ identityId }: { identityId: string }) => identityId),
      [person.identityId],
    )
  const accounts = (await browser.accounts()).json().accounts.map(({ id: each }: { id: string }) => each)
  assert.deepEqual(accounts, [person.identityId])
  const origin = { clientId: app.clientId, redirectUri: app.redirectUri, scope: 'openid' }
  const consent = { ...origin, identityId: held.identityId }
  const refusals = [
    await send('POST', '/api/oauth/authorize', person, consent),
    await send('PATCH', `/api/identities/${held.identityId}`, person, { displayName: 'Other' }),
    await send('DELETE', `/api/identities/${held.identityId}`, person),
    await send('POST', `/api/signing/keys/${held.identityId}`, person, {
      publicKey: newSigningPair().publicKey,
      encryptedPrivateKey: 'a.b.c.d.e',
    }),
    await businessRequest(world, person, 'POST /organizations', { name: 'New', identityId: held.identityId }),
  ]
  for (const refused of refusals) assert.deepEqual(refusalOf(refused), [404, 'identity_not_found'])
  const inside = await businessRequest(world, person, `GET /organizations/${id}/members`)
  assert.deepEqual(refusalOf(inside), [404, 'organization_not_found'])
  assert.equal((await browser.assertion(app, newParams().params)).statusCode, 403)

  const added = await send('POST', '/api/identities', person, {
    handle: `new-${randomUUID()}`.slice(0, 30),
    displayName: 'N',
  })
  assert.deepEqual(refusalOf(added), [403, 'identity_suspended'])
  const last = await send('DELETE', `/api/identities/${person.identityId}`, person)
  assert.deepEqual(refusalOf(last), [409, 'last_identity'])
  assert.equal((await tryToSignIn(person)).statusCode, 200)

  await activate(held.identityId)
  assert.equal((await send('POST', '/api/oauth/authorize', person, consent)).statusCode, 200)
  assert.equal((await businessRequest(world, person, `GET /organizations/${id}/members`)).statusCode, 200)
})

test('an account whose identities are all suspended one by one cannot sign in', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  await suspend(person.identityId, { scope: 'identity', reason: 'First' })
  assert.equal((await tryToSignIn(person)).statusCode, 200)
  await suspend(other.identityId, { scope: 'identity', reason: 'Second' })
  assert.equal((await send('GET', '/api/auth/session', person)).statusCode, 401)
  assert.deepEqual(refusalOf(await tryToSignIn(person)), [403, 'account_suspended'])
  await activate(other.identityId)
  const { identities } = (await tryToSignIn(person)).json()
  assert.deepEqual(
    identities.map(({ identityId }: { identityId: string }) => identityId),
    [other.identityId],
  )
})

test('PEO-08 of two siblings that suspended the account, one that is activated does not free it', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  const first = await suspend(person.identityId, { reason: 'One' })
  world.pass(60)
  const second = await suspend(other.identityId, { reason: 'Two' })
  assert.equal(second.suspendedAt, world.now().toISOString(), 'the answer tells nothing of the first one')
  assert.notEqual(first.suspendedAt, second.suspendedAt)
  await activate(person.identityId)
  assert.deepEqual(refusalOf(await tryToSignIn(person)), [403, 'account_suspended'])
  await activate(person.identityId)
  await activate(other.identityId)
  const { identities } = (await tryToSignIn(person)).json()
  assert.equal(identities.length, 2)
})

test('a suspension ends by itself, and a narrower one after it counts alone', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  const until = (seconds: number) => new Date(world.now().getTime() + seconds * 1000).toISOString()
  await suspend(person.identityId, { until: until(60) })
  await suspend(other.identityId, { scope: 'identity', until: until(120) })
  world.pass(59)
  assert.deepEqual(refusalOf(await tryToSignIn(person)), [403, 'account_suspended'])
  world.pass(1)
  const early = (await tryToSignIn(person)).json().identities
  assert.deepEqual(
    early.map(({ identityId }: { identityId: string }) => identityId),
    [person.identityId],
  )
  world.pass(60)
  assert.equal((await tryToSignIn(person)).json().identities.length, 2)

  await suspend(person.identityId)
  await suspend(person.identityId, { scope: 'identity', reason: 'Narrower' })
  const left = (await tryToSignIn(person)).json().identities
  assert.deepEqual(
    left.map(({ identityId }: { identityId: string }) => identityId),
    [other.identityId],
  )
})

test('an operator does not replace a suspension that they have not seen', async () => {
  const { identityId } = await world.person()
  const url = `/api/admin/identities/${identityId}`
  const read = async () => (await world.api.inject({ url, headers: world.admin })).json().identity
  const { version } = await read()
  const replace = (seen: number, fields: object) => {
    const headers = { ...world.admin, 'if-match': `"${seen}"` }
    const payload = { reason: 'Spam', ...fields }
    return world.api.inject({ method: 'POST', url: `${url}/suspension`, headers, payload })
  }
  const kept = await suspend(identityId)
  const until = new Date(world.now().getTime() + 86_400_000).toISOString()
  const late = await replace(version, { scope: 'identity', until })
  assert.deepEqual(refusalOf(late), [412, 'version_mismatch'])
  assert.deepEqual(await suspend(identityId), kept)
  assert.equal((await replace(version, { reason })).statusCode, 200, 'what it is already is no replacement')
  const seen = await replace((await read()).version, { scope: 'identity', until })
  assert.deepEqual([seen.statusCode, seen.json().scope, seen.json().until], [200, 'identity', until])
})

test('acts of an operator can be repeated, are shown in the activity, and disclose no other identity', async () => {
  const person = await world.person()
  const other = await sibling(world, person)
  const once = await suspend(other.identityId)
  world.pass(5)
  assert.deepEqual(await suspend(other.identityId), once)
  assert.ok(!JSON.stringify(once).includes(person.userId))
  await activate(other.identityId)
  await activate(other.identityId)
  assert.equal((await operate('POST', other.identityId, 'sign-out', {})).statusCode, 204)
  const again = { ...person, headers: await person.signIn() }
  const { entries } = (await send('GET', '/api/account/activity', again)).json()
  const acts = entries.filter(({ action }: { action: string }) => /^identity\.(suspend|activ|sign)/.test(action))
  assert.deepEqual(
    acts.map(({ action, actor, identityId, details }: Record<string, unknown>) => [action, actor, identityId, details]),
    [
      ['identity.signed_out', 'operator', other.identityId, { scope: 'account' }],
      ['identity.activated', 'operator', other.identityId, {}],
      ['identity.suspended', 'operator', other.identityId, { scope: 'account', reason }],
    ],
  )
})

test('a sign-out ends all sessions, and of one identity only what belongs to it', async () => {
  const person = await world.person()
  const app = await world.app()
  const tokens = await app.tokens(person)
  assert.equal((await operate('POST', person.identityId, 'sign-out', { scope: 'identity' })).statusCode, 204)
  assert.equal((await send('GET', '/api/auth/session', person)).statusCode, 200)
  assert.equal((await operate('POST', person.identityId, 'sign-out', {})).statusCode, 204)
  assert.equal((await send('GET', '/api/auth/session', person)).statusCode, 401)
  assert.equal(await userinfo(tokens.access_token), 200, 'the user stays in apps until they end it')
  assert.equal((await tryToSignIn(person)).statusCode, 200)
})

test('an unknown identity, an invalid reason and a past end are rejected', async () => {
  const { identityId } = await world.person()
  for (const [method, what, payload] of [
    ['POST', 'suspension', { reason }],
    ['DELETE', 'suspension', undefined],
    ['POST', 'sign-out', {}],
  ] as const)
    assert.deepEqual(refusalOf(await operate(method, randomUUID(), what, payload)), [404, 'identity_not_found'])
  const past = world.now().toISOString()
  const invalid = ['', ' ', 'a'.repeat(501), 'a\u202Eb', 'a\nb'].map((text) => ({ reason: text }))
  for (const payload of [...invalid, {}, { reason, scope: 'person' }, { reason, until: past }])
    assert.deepEqual(
      refusalOf(await operate('POST', identityId, 'suspension', payload)),
      [400, 'invalid_request'],
      JSON.stringify(payload),
    )
  assert.equal((await suspend(identityId, { reason: 'ا'.repeat(500) })).reason.length, 500)
})

test('an account can be deleted with a suspended identity, and its suspensions with it', async () => {
  const person = await world.person()
  const held = await sibling(world, person)
  await suspend(held.identityId, { scope: 'identity' })
  await reauthenticate(world, person)
  assert.equal((await send('DELETE', '/api/account', person)).statusCode, 204)
  const left = await world.db
    .selectFrom('account_suspension')
    .select('reason')
    .where('user_id', '=', person.userId)
    .execute()
  assert.deepEqual(left, [])
})

test('PEO-07 an account with any number of sessions is suspended in one request', async () => {
  const person = await world.person()
  const { clientId } = await world.app()
  await fillSessions(world, person)
  await fillCodes(world, { ...person, clientId })
  const { sessions, families } = await countAlive(world, person)
  assert.ok(sessions > manyRows && families >= manyRows)
  await suspend(person.identityId)
  assert.deepEqual(await countAlive(world, person), { sessions: 0, families: 0 })
})
