import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createLocalJWKSet, decodeJwt, jwtVerify, SignJWT } from 'jose'
import { createConnectors, exchangeGrant, revoke, delegationsOf, type Connectors } from '#testing/connectors.ts'
import { createWorld, postToken, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let notes: Connectors
before(async () => {
  world = await createWorld()
  notes = await createConnectors(world)
})
after(() => world.close())

type Answered = { statusCode: number; json: () => { error: string } }
const refusedAs = (answer: Answered) => [answer.statusCode, answer.json().error]
const keySet = async () => (await world.auth.inject('/.well-known/jwks.json')).json()

test('DEL-17 a delegated token is for one resource, lasts ten minutes, and names user and acting app', async () => {
  const { person, subjectToken } = await notes.connected({ requestedScope: 'notes.read notes.write' })
  const answer = await notes.exchange(subjectToken, { scope: 'notes.read' })
  assert.equal(answer.statusCode, 200, answer.body)
  assert.equal(answer.headers['cache-control'], 'no-store')
  const { access_token: token, ...rest } = answer.json()
  assert.deepEqual(rest, {
    issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    token_type: 'Bearer',
    expires_in: 600,
    scope: 'notes.read',
    audience: notes.audience,
    target_resource: notes.resourceKey,
    communication_mode: 'user_present',
  })

  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(await keySet()), {
    issuer: world.config.authUrl.origin,
    audience: notes.audience,
    typ: 'at+jwt',
    currentDate: world.now(),
  })
  assert.equal(protectedHeader.alg, 'ES256')
  const { jti, iat = 0, ...claims } = payload
  const [delegation] = await delegationsOf(world, person)
  assert.equal(typeof jti, 'string')
  assert.deepEqual(claims, {
    iss: world.config.authUrl.origin,
    sub: person.identityId,
    aud: notes.audience,
    exp: iat + 600,
    client_id: notes.source.clientId,
    scope: 'notes.read',
    act: { sub: notes.source.clientId },
    grant_id: delegation.id,
    target_resource: notes.resourceKey,
    com_mode: 'user_present',
  })
})

test('a resource is named by key or audience, with or without a slash; two names must match', async () => {
  const { exchange } = await notes.connected()
  for (const resource of [notes.resourceKey, notes.audience, `${notes.audience}/`])
    assert.equal((await exchange({ resource })).statusCode, 200, resource)
  assert.equal((await exchange({ audience: notes.resourceKey })).statusCode, 200)
  assert.deepEqual(refusedAs(await exchange({ audience: notes.audience })), [400, 'invalid_target'])
})

test('token exchange accepts JSON, the legacy names and the standard token types', async () => {
  const { subjectToken, exchange } = await notes.connected()
  const { client_id: clientId, client_secret: clientSecret } = notes.source.credentials
  const legacy = { grantType: exchangeGrant, subjectToken, resource: notes.resourceKey, clientId, clientSecret }
  assert.equal((await world.api.inject({ method: 'POST', url: '/api/oauth/token', payload: legacy })).statusCode, 200)
  for (const type of ['access_token', 'jwt'])
    assert.equal((await exchange({ subject_token_type: `urn:ietf:params:oauth:token-type:${type}` })).statusCode, 200)
  for (const name of ['subject_token_type', 'requested_token_type']) {
    const answer = await exchange({ [name]: 'urn:ietf:params:oauth:token-type:refresh_token' })
    assert.deepEqual(refusedAs(answer), [400, 'invalid_request'], name)
  }
  assert.deepEqual(refusedAs(await exchange({ actor_token: subjectToken })), [400, 'invalid_request'])
})

test('DEL-01 DEL-02 DEL-16 opaque tokens, ID tokens and delegated tokens are rejected as subject token', async () => {
  const { person, subjectToken } = await notes.connected()
  const { access_token, id_token = '', refresh_token } = await notes.source.tokens(person)
  const { access_token: delegated } = await notes.delegated(subjectToken)
  for (const token of [access_token, id_token, refresh_token, delegated, person.sessionToken, 'x', 'a.b.c'])
    assert.deepEqual(refusedAs(await notes.exchange(token)), [400, 'invalid_request'], token)
})

test('DEL-03 a subject token that we did not sign is rejected, whatever its header says', async () => {
  const { subjectToken } = await notes.connected()
  const claims = decodeJwt(subjectToken)
  const [head = ''] = subjectToken.split('.')
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
  const { keys } = await keySet()
  const ours = keys.find((key: { kid: string }) => key.kid === kid)
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const strangersJwk = stranger.publicKey.export({ format: 'jwk' })
  const sign = (header: Record<string, unknown>, key: Parameters<SignJWT['sign']>[0]) =>
    new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header }).sign(key)
  const spki = createPublicKey({ key: ours, format: 'jwk' }).export({ type: 'spki', format: 'der' })
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const [, body, signature = ''] = subjectToken.split('.')
  const altered = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`

  const forged = [
    `${encode({ alg: 'none', typ: 'at+jwt' })}.${encode(claims)}.`,
    `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${encode(claims)}.${subjectToken.split('.')[2]}`,
    await sign({ alg: 'HS256', kid }, Buffer.from(JSON.stringify(ours))),
    await sign({ alg: 'HS256', kid }, Buffer.from(ours.x, 'base64url')),
    await sign({ alg: 'HS256', kid }, spki),
    await sign({ kid }, stranger.privateKey),
    await sign({ kid, jwk: strangersJwk }, stranger.privateKey),
    await sign({ kid: 'theirs', jku: 'https://evil.example/jwks.json' }, stranger.privateKey),
    await sign({ kid, x5u: 'https://evil.example/chain.pem' }, stranger.privateKey),
    `${head}.${body}.${altered}`,
    `${encode({ alg: 'ES256', typ: 'JWT', kid })}.${body}.${signature}`,
  ]
  for (const token of forged) {
    const answer = await notes.exchange(token)
    assert.deepEqual(refusedAs(answer), [400, 'invalid_request'], token.slice(0, 60))
  }
})

test('DEL-04 a subject token is rejected from the second of its expiry', async () => {
  const { exchange } = await notes.connected({ communicationMode: 'background' })
  world.pass(3599)
  assert.equal((await exchange()).statusCode, 200)
  world.pass(1)
  assert.deepEqual(refusedAs(await exchange()), [400, 'invalid_request'])
})

test('DEL-05 token exchange requires exactly one subject token in the body', async () => {
  const { subjectToken } = await notes.connected()
  const fields = { grant_type: exchangeGrant, resource: notes.resourceKey, ...notes.source.credentials }
  assert.deepEqual(refusedAs(await postToken(world.api, fields)), [400, 'invalid_request'])
  assert.deepEqual(refusedAs(await postToken(world.api, { ...fields, subject_token: '' })), [400, 'invalid_request'])
  const inQuery = await world.api.inject({
    method: 'POST',
    url: `/api/oauth/token?subject_token=${subjectToken}`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(fields).toString(),
  })
  assert.deepEqual(refusedAs(inQuery), [400, 'invalid_request'])
  const twice = `${new URLSearchParams({ ...fields, subject_token: subjectToken })}&subject_token=${subjectToken}`
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/oauth/token', headers, payload: twice })
  assert.deepEqual(refusedAs(answer), [400, 'invalid_request'])
})

test('DEL-06 token exchange rejects a subject token of another app and requires a secret', async () => {
  const { subjectToken, exchange } = await notes.connected()
  const other = await world.app()
  assert.deepEqual(refusedAs(await notes.exchange(subjectToken, {}, other)), [400, 'invalid_request'])
  assert.deepEqual(refusedAs(await exchange({ client_secret: 'cs_wrong' })), [401, 'invalid_client'])
  const { client_id } = notes.source.credentials
  const fields = { grant_type: exchangeGrant, resource: notes.resourceKey, subject_token: subjectToken, client_id }
  assert.deepEqual(refusedAs(await postToken(world.api, fields)), [401, 'invalid_client'])

  const open = await world.app({ public: true })
  assert.deepEqual(refusedAs(await notes.exchange(subjectToken, {}, open)), [400, 'unauthorized_client'])
})

test('DEL-07 a subject token is rejected once it, its consent or its identity is revoked or deleted', async () => {
  const revoked = await notes.connected()
  const { source } = notes
  await world.api.inject({
    method: 'POST',
    url: '/api/oauth/revoke',
    payload: { ...source.credentials, token: revoked.subjectToken },
  })
  assert.deepEqual(refusedAs(await revoked.exchange()), [400, 'invalid_request'])

  const disconnected = await notes.connected()
  const list = '/api/oauth/authorizations'
  const { headers } = disconnected.person
  const { authorizations } = (await world.api.inject({ url: list, headers })).json()
  await world.api.inject({ method: 'DELETE', url: `${list}/${authorizations[0].id}`, headers })
  assert.deepEqual(refusedAs(await disconnected.exchange()), [400, 'invalid_request'])
  const again = await source.tokens(disconnected.person)
  assert.deepEqual(refusedAs(await notes.exchange(again.access_token_jwt)), [403, 'access_denied'])

  const deleted = await notes.connected()
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: deleted.person.headers })
  assert.ok(gone.statusCode < 300, gone.body)
  assert.deepEqual(refusedAs(await deleted.exchange()), [400, 'invalid_request'])
})

test('DEL-08 without scope the token gets exactly what was granted, and a wider scope is rejected', async () => {
  const { exchange } = await notes.connected({ requestedScope: 'notes.write notes.read' })
  assert.equal((await exchange()).json().scope, 'notes.read notes.write')
  assert.equal(
    (await exchange({ scope: '' })).json().scope,
    'notes.read notes.write',
    'an empty scope counts as omitted',
  )
  assert.equal((await exchange({ scope: 'notes.write' })).json().scope, 'notes.write')
  for (const scope of ['notes.read notes.share', 'notes.READ', 'openid', 'notes.read,notes.write'])
    assert.deepEqual(refusedAs(await exchange({ scope })), [400, 'invalid_scope'], scope)
})

test('new tokens omit a scope that the resource has removed, until the resource defines it again', async () => {
  const connectors = await createConnectors(world)
  const { exchange } = await connectors.connected({ requestedScope: 'notes.read notes.write' })
  await connectors.changeResource({ scopes: ['notes.read'] })
  assert.equal((await exchange()).json().scope, 'notes.read')
  assert.deepEqual(refusedAs(await exchange({ scope: 'notes.write' })), [400, 'invalid_scope'])
  await connectors.changeResource({ scopes: ['notes.other'] })
  assert.deepEqual(refusedAs(await exchange()), [400, 'invalid_scope'])
})

test('DEL-09 DEL-20 an unknown or disabled resource, or one of a disabled app, is rejected as target', async () => {
  const connectors = await createConnectors(world)
  const { exchange } = await connectors.connected()
  for (const resource of ['nothing', connectors.resourceKey.toUpperCase(), 'https://nothing.example', 'a b', "x'"])
    assert.deepEqual(refusedAs(await exchange({ resource })), [400, 'invalid_target'], resource)

  await connectors.changeResource({ status: 'disabled' })
  assert.deepEqual(refusedAs(await exchange()), [400, 'invalid_target'])
  await connectors.changeResource({ status: 'active' })
  assert.equal((await exchange()).statusCode, 200)

  const url = `/api/admin/apps/${connectors.target.clientId}`
  const change = (status: string) =>
    world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status } })
  const { access_token: earlier } = (await exchange()).json()
  const isActive = async () => (await connectors.introspect(connectors.source, earlier)).json().active
  assert.equal(await isActive(), true)
  await change('disabled')
  assert.deepEqual(refusedAs(await exchange()), [400, 'invalid_target'])
  assert.equal(await isActive(), false)
  await change('active')
  assert.equal((await exchange()).statusCode, 200)
  await world.api.inject({ method: 'DELETE', url, headers: world.admin })
  assert.deepEqual(refusedAs(await exchange()), [400, 'invalid_target'])
})

test('a resource registered again by another app under a deleted key has no earlier grants', async () => {
  const connectors = await createConnectors(world)
  const { exchange } = await connectors.connected()
  const { clientId } = connectors.target
  await world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${clientId}`, headers: world.admin })
  const heir = await world.app()
  const { resourceKey, audience } = connectors
  const payload = { resourceKey, displayName: 'Another', scopes: ['notes.read'], audience }
  const url = `/api/admin/apps/${heir.clientId}/resources`
  const made = await world.api.inject({ method: 'POST', url, headers: world.admin, payload })
  assert.equal(made.statusCode, 201, made.body)
  assert.deepEqual(refusedAs(await exchange()), [403, 'access_denied'])
})

test('DEL-10 without a delegation, or after its revocation, no token is issued until the user consents', async () => {
  const stranger = await world.person()
  const { access_token_jwt: unconnected } = await notes.source.tokens(stranger)
  assert.deepEqual(refusedAs(await notes.exchange(unconnected)), [403, 'access_denied'])

  const { person, exchange } = await notes.connected({ requestedScope: 'notes.read notes.write' })
  const [{ id }] = await delegationsOf(world, person)
  assert.equal((await revoke(world, person, id)).statusCode, 204)
  assert.deepEqual(refusedAs(await exchange()), [403, 'access_denied'])
  await notes.consent(person, { requestedScope: 'notes.share' })
  assert.equal((await exchange()).json().scope, 'notes.share')
})

test("DEL-18 user_present ends an hour after the user's authentication, background does not", async () => {
  const present = await notes.connected()
  const away = await notes.connected({ communicationMode: 'background' })
  const { source } = notes
  const late = async ({ person }: typeof present) => {
    const { refresh_token } = await source.tokens(person)
    world.pass(3601)
    return (await source.refresh(refresh_token)).json().access_token_jwt
  }
  assert.deepEqual(refusedAs(await notes.exchange(await late(present))), [400, 'invalid_grant'])
  const answer = await notes.exchange(await late(away))
  assert.deepEqual([answer.statusCode, answer.json().communication_mode], [200, 'background'])

  const headers = await present.person.signIn()
  const { access_token_jwt: fresh } = await source.tokens({ ...present.person, headers })
  assert.equal((await notes.exchange(fresh)).json().communication_mode, 'user_present')
})

test('DEL-21 an app may act at its own resource within the granted scopes', async () => {
  const { target, resourceKey } = notes
  const person = await world.person()
  const payload = {
    clientId: target.clientId,
    redirectUri: target.redirectUri,
    identityId: person.identityId,
    connector: true,
    requestedResource: resourceKey,
    requestedScope: 'notes.read',
  }
  const agreed = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: person.headers,
    payload,
  })
  assert.equal(agreed.statusCode, 200, agreed.body)
  const { access_token_jwt: own } = await target.tokens(person)
  assert.equal((await notes.exchange(own, {}, target)).json().scope, 'notes.read')
  assert.deepEqual(refusedAs(await notes.exchange(own, { scope: 'notes.write' }, target)), [400, 'invalid_scope'])
})

test('DEL-22 a delegation of one identity does not apply to other identities of the user', async () => {
  const { person } = await notes.connected()
  const payload = { handle: `other-${Date.now().toString(36)}`, displayName: 'The other' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers: person.headers, payload })
  assert.equal(made.statusCode, 201, made.body)
  const { identityId } = made.json().identity ?? made.json()
  const { access_token_jwt: other } = await notes.source.tokens({ ...person, identityId })
  assert.deepEqual(refusedAs(await notes.exchange(other)), [403, 'access_denied'])
})
