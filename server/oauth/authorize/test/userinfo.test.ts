import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { SignJWT, createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { createWorld, postForm, type TestWorld } from '#testing/world.ts'
import { signJwt } from '#tokens/signing-keys/jwt.ts'
import { loadTokenSigningKeys } from '#tokens/signing-keys/signing-keys.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const userinfo = (token?: string, url = '/api/oauth/userinfo') =>
  world.api.inject({ url, ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }) })

async function signedIn(scope = 'openid profile offline_access') {
  const person = await world.person()
  const app = await world.app({ allowedScopes: ['openid', 'profile', 'email', 'offline_access', 'user_id'] })
  return { person, app, tokens: await app.tokens(person, { scope }) }
}

test('JWT-11 userinfo returns exactly the claims that the scope allows', async () => {
  const { person, tokens } = await signedIn('openid profile user_id')
  const claims = (await userinfo(tokens.access_token)).json()
  assert.deepEqual(claims, {
    sub: person.identityId,
    name: `The ${person.handle}`,
    preferred_username: person.handle,
    updated_at: Math.floor(world.now().getTime() / 1000),
    user_id: person.userId,
  })
  const bare = await signedIn('openid')
  assert.deepEqual((await userinfo(bare.tokens.access_token_jwt)).json(), { sub: bare.person.identityId })
})

test('userinfo answers POST like GET', async () => {
  const { person, tokens } = await signedIn()
  const answer = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/userinfo',
    headers: { authorization: `bearer ${tokens.access_token}` },
  })
  assert.equal(answer.json().sub, person.identityId)
})

test('JWT-07 the challenge names an error for an invalid token, but not for a missing one', async () => {
  const missing = await userinfo()
  assert.equal(missing.statusCode, 401)
  assert.equal(missing.json().error, 'unauthorized')
  assert.equal(missing.headers['www-authenticate'], 'Bearer realm="countersign"')
  const bad = await userinfo('cs_at_nonsense')
  assert.equal(bad.json().error, 'invalid_token')
  assert.match(String(bad.headers['www-authenticate']), /error="invalid_token"/)
})

test('JWT-07 the token of a disabled app is refused with a challenge', async () => {
  const { app, tokens } = await signedIn()
  const url = `/api/admin/apps/${app.clientId}`
  const payload = { status: 'disabled' }
  const disabled = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload })
  assert.equal(disabled.statusCode, 200, disabled.body)
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  for (const path of ['userinfo', 'organizations']) {
    const refused = await world.api.inject({ url: `/api/oauth/${path}`, headers })
    assert.deepEqual([refused.statusCode, refused.json().error], [401, 'invalid_token'])
    assert.match(String(refused.headers['www-authenticate']), /^Bearer .*error="invalid_token"$/)
  }
})

test('OID-05 another scheme, or Bearer alone, counts as no token and gets a challenge without error', async () => {
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer ', 'DPoP cs_at_x', 'cs_at_x'])
    for (const [method, path] of [
      ['GET', 'userinfo'],
      ['POST', 'userinfo'],
      ['GET', 'organizations'],
    ] as const) {
      const answer = await world.api.inject({ method, url: `/api/oauth/${path}`, headers: { authorization } })
      assert.deepEqual([answer.statusCode, answer.json().error], [401, 'unauthorized'], authorization)
      assert.equal(answer.headers['www-authenticate'], 'Bearer realm="countersign"')
      assert.doesNotMatch(answer.json().error_description, /\?|[^\x20-\x7e]/)
    }
})

/** Characters that an `error_description` may contain (RFC 6749 §5.2). */
const describing = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

test('OID-06 every error description of an OAuth endpoint uses only the characters of RFC 6749', async () => {
  const app = await world.app()
  const odd = 'é"\\😀\n\u202e'
  const own = { client_id: app.clientId, client_secret: app.clientSecret }
  const bodies = [
    ...[
      {},
      { grant_type: odd },
      { grant_type: 'authorization_code', code: odd, redirect_uri: odd, code_verifier: odd },
    ],
    ...[
      { grant_type: 'refresh_token', refresh_token: odd, scope: odd },
      { client_id: odd, client_secret: odd },
    ],
    ...[{ token: odd }, { redirect_uri: odd }, { redirect_uri: app.redirectUri, scope: odd, response_type: 'code' }],
    ...[{ redirect_uri: app.redirectUri, response_type: odd }, { assertion: odd }],
  ]
  const tokenPaths = ['token', 'par', 'revoke', 'introspect', 'fedcm/exchange']
  let refusals = 0
  const check = ({ statusCode, body }: { statusCode: number; body: string }) => {
    if (statusCode < 400) return
    refusals += 1
    const described = JSON.parse(body).error_description
    assert.match(described, describing)
  }
  const forms: Record<string, string>[] = bodies.flatMap((body) => [body, { ...own, ...body }])
  for (const path of tokenPaths) for (const form of forms) check(await postForm(world.api, `/api/oauth/${path}`, form))
  assert.ok(refusals > 60, String(refusals))

  for (const requested of [{ scope: `openid ${odd}` }, { response_type: odd }, { prompt: odd }, { app_key_jwk: odd }]) {
    const query = { client_id: app.clientId, redirect_uri: app.redirectUri, response_type: 'code', ...requested }
    const { headers } = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
    assert.match(new URL(String(headers.location)).searchParams.get('error_description') ?? '', describing)
  }
})

test('JWT-08 a token in the query is ignored, and rejected in addition to the header', async () => {
  const { tokens } = await signedIn()
  const url = `/api/oauth/userinfo?access_token=${tokens.access_token}`
  assert.equal((await userinfo(undefined, url)).statusCode, 401)
  assert.equal((await userinfo(tokens.access_token, url)).statusCode, 400)
  const form = { access_token: tokens.access_token }
  const alone = await postForm(world.api, '/api/oauth/userinfo', form)
  assert.equal(alone.json().sub, undefined, 'a token in a form is ignored too')
  const authorization = `Bearer ${tokens.access_token}`
  const beside = await postForm(world.api, '/api/oauth/userinfo', form, { authorization })
  assert.deepEqual([beside.statusCode, beside.json().error], [400, 'invalid_request'])
})

test('the JWTs name subject, audience and expiry, and verify with the published keys', async () => {
  const { person, app, tokens } = await signedIn()
  const jwks = (await world.auth.inject({ url: '/.well-known/jwks.json' })).json()
  const keys = createLocalJWKSet(jwks)
  const currentDate = world.now()
  const issuer = 'http://localhost:4401'
  const id = await jwtVerify(tokens.id_token ?? '', keys, { issuer, audience: app.clientId, currentDate })
  assert.equal(id.protectedHeader.alg, 'RS256')
  assert.equal(id.payload.sub, person.identityId)
  assert.equal(id.payload['azp'], app.clientId)
  assert.ok(id.payload['sid'])
  const access = await jwtVerify(tokens.access_token_jwt, keys, {
    issuer,
    audience: issuer,
    currentDate,
    typ: 'at+jwt',
  })
  assert.equal(access.protectedHeader.alg, 'ES256')
  assert.deepEqual(
    [access.payload.sub, access.payload['client_id'], access.payload['scope']],
    [person.identityId, app.clientId, tokens.scope],
  )
})

for (const algorithm of ['ES256', 'EdDSA'] as const)
  test(`an app registered with ${algorithm} gets its ID tokens signed with it`, async () => {
    const app = await world.app({ idTokenSignedResponseAlg: algorithm })
    const tokens = await app.tokens(await world.person())
    const keys = createLocalJWKSet((await world.auth.inject({ url: '/.well-known/jwks.json' })).json())
    const { protectedHeader } = await jwtVerify(tokens.id_token ?? '', keys, { currentDate: world.now() })
    assert.equal(protectedHeader.alg, algorithm)
  })

test('JWT-01 changing any byte of an access JWT invalidates it', async () => {
  const { tokens } = await signedIn()
  const jwt = tokens.access_token_jwt
  for (let at = 0; at < jwt.length - 1; at += 1) {
    const altered = jwt.slice(0, at) + (jwt[at] === 'A' ? 'B' : 'A') + jwt.slice(at + 1)
    assert.equal((await userinfo(altered)).statusCode, 401, `at ${at}`)
  }
})

test('JWT-02 JWT-03 JWT-05 JWT-17 a JWT with another algorithm, type, issuer or key is rejected', async () => {
  const { tokens } = await signedIn()
  const claims = decodeJwt(tokens.access_token_jwt)
  const { kid = '' } = decodeProtectedHeader(tokens.access_token_jwt)
  const [, payload = ''] = tokens.access_token_jwt.split('.')
  const encode = (header: object) => Buffer.from(JSON.stringify(header)).toString('base64url')
  const { keys } = (await world.auth.inject({ url: '/.well-known/jwks.json' })).json()
  const rsa = keys.find((key: { alg: string }) => key.alg === 'RS256')
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const signed = (header: { kid: string; typ?: string }, more = {}) =>
    new SignJWT({ ...claims, ...more }).setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', ...header }).sign(privateKey)

  const hmac = (text: string) => createHmac('sha256', JSON.stringify(rsa)).update(text).digest('base64url')
  const hs256 = `${encode({ alg: 'HS256', typ: 'at+jwt', kid })}.${payload}`
  const forged = {
    'the ID token': tokens.id_token ?? '',
    'alg none': `${encode({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`,
    'alg NONE': `${encode({ alg: 'NONE', typ: 'at+jwt', kid })}.${payload}.`,
    'HS256 by the public key': `${hs256}.${hmac(hs256)}`,
    'an empty signature': `${tokens.access_token_jwt.split('.').slice(0, 2).join('.')}.`,
    'a foreign key under our kid': await signed({ kid }),
    'our RSA kid under ES256': await signed({ kid: rsa.kid }),
    'an unknown kid': await signed({ kid: '../../etc/passwd' }),
    'a kid of 10 kB': await signed({ kid: 'k'.repeat(10_000) }),
    'another issuer': await signed({ kid }, { iss: 'https://sister.example' }),
  }
  for (const [what, token] of Object.entries(forged)) {
    const answer = await userinfo(token)
    assert.equal(answer.statusCode, 401, `${what}: ${answer.body}`)
    assert.equal(answer.json().error, 'invalid_token')
  }
})

test('CLK-04 a token is valid until its expiry and invalid from then on', async () => {
  const app = await world.app({ accessTokenTtlSeconds: 60 })
  const tokens = await app.tokens(await world.person())
  assert.equal(tokens.expires_in, 60)
  world.pass(59)
  assert.equal((await userinfo(tokens.access_token)).statusCode, 200)
  assert.equal((await userinfo(tokens.access_token_jwt)).statusCode, 200)
  world.pass(1)
  assert.equal((await userinfo(tokens.access_token)).statusCode, 401)
  assert.equal((await userinfo(tokens.access_token_jwt)).statusCode, 401)
})

test('JWT-06 an access JWT is rejected from its expiry on, without tolerance', async () => {
  const { app, tokens } = await signedIn()
  const isActive = async () =>
    (await postForm(world.api, '/api/oauth/introspect', { ...app.credentials, token: tokens.access_token_jwt })).json()
      .active
  world.pass(3599)
  assert.deepEqual([(await userinfo(tokens.access_token_jwt)).statusCode, await isActive()], [200, true])
  for (const secondsPast of [0, 1, 31]) {
    world.pass(secondsPast === 0 ? 1 : secondsPast)
    const answer = await userinfo(tokens.access_token_jwt)
    assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_token'])
    assert.equal(await isActive(), false)
  }
})

test('JWT-06 an access JWT from the future is rejected, beyond one minute for clock differences', async () => {
  const { tokens } = await signedIn()
  const claims = decodeJwt(tokens.access_token_jwt)
  const now = claims.iat ?? 0
  const keys = await loadTokenSigningKeys(world.kernel)
  const statusOf = async (more: object) =>
    (await userinfo(await signJwt(keys, 'ES256', 'at+jwt', { ...claims, ...more }))).statusCode
  assert.equal(await statusOf({}), 200)
  assert.equal(await statusOf({ iat: now + 60 }), 200)
  assert.equal(await statusOf({ iat: now + 61 }), 401)
  assert.equal(await statusOf({ iat: undefined }), 401)
  assert.equal(await statusOf({ iat: String(now) }), 401)
  assert.equal(await statusOf({ nbf: now }), 200)
  assert.equal(await statusOf({ nbf: now + 61 }), 401)
  assert.equal(await statusOf({ exp: now - 31 }), 401)
  assert.equal(await statusOf({ exp: undefined }), 401)
})

test('the tokens of a deleted app are invalid', async () => {
  const { app, tokens } = await signedIn()
  const gone = await world.api.inject({
    method: 'DELETE',
    url: `/api/admin/apps/${app.clientId}`,
    headers: world.admin,
  })
  assert.equal(gone.statusCode, 204)
  assert.equal((await userinfo(tokens.access_token)).statusCode, 401)
  assert.equal((await app.refresh(tokens.refresh_token)).json().error, 'invalid_client')
})

test('JWT-12 the key set is public, distinct and cacheable; a client with the current version gets 304', async () => {
  const answer = await world.auth.inject({ url: '/.well-known/jwks.json' })
  const { keys } = answer.json()
  assert.deepEqual(keys.map((key: { alg: string }) => key.alg).toSorted(), ['ES256', 'EdDSA', 'RS256'])
  for (const key of keys)
    assert.deepEqual(
      ['d', 'p', 'q', 'k'].filter((member) => member in key),
      [],
    )
  assert.equal(new Set(keys.map((key: { kid: string }) => key.kid)).size, 3)
  assert.equal(answer.headers['cache-control'], 'public, max-age=3600')
  const tag = String(answer.headers.etag)
  const askAgain = (url: string, header: string) => world.auth.inject({ url, headers: { 'if-none-match': header } })
  for (const header of [tag, `W/${tag}`, `"other", ${tag}`, `"other",W/${tag} , "another"`, '*']) {
    const again = await askAgain('/.well-known/jwks.json', header)
    assert.deepEqual([again.statusCode, again.body, again.headers.etag], [304, '', tag], header)
  }
  for (const header of ['"other"', `${tag.slice(0, -1)}x"`, tag.slice(1, -1), 'W/"*"', '', `"other" ${tag}`])
    assert.equal((await askAgain('/.well-known/jwks.json', header)).statusCode, 200, header)
})

test('discovery lists endpoints on their hosts, at both paths, and the API host redirects to it', async () => {
  const document = (await world.auth.inject({ url: '/.well-known/openid-configuration' })).json()
  assert.equal(document.issuer, 'http://localhost:4401')
  assert.equal(document.authorization_endpoint, 'http://localhost:4401/signin')
  assert.equal(document.token_endpoint, 'http://localhost:4400/api/oauth/token')
  assert.deepEqual(document.code_challenge_methods_supported, ['S256'])
  assert.equal(document.authorization_response_iss_parameter_supported, true)
  assert.deepEqual((await world.auth.inject({ url: '/.well-known/oauth-authorization-server' })).json(), document)
  const moved = await world.api.inject({ url: '/.well-known/openid-configuration' })
  assert.equal(moved.statusCode, 308)
  assert.equal(moved.headers.location, 'http://localhost:4401/.well-known/openid-configuration')
})

test('JWT-15 HDR-07 no request header changes the issuer', async () => {
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
  const { body } = await world.auth.inject({ url: '/.well-known/openid-configuration', headers })
  assert.doesNotMatch(body, /evil/)
})

test('JWT-16 WebFinger answers the same, and equally fast, for existing and nonexistent accounts', async () => {
  const person = await world.person()
  const stranger = `${person.handle.slice(0, -2)}zz`
  const ask = (resource: string) =>
    world.auth.inject({ url: `/.well-known/webfinger?resource=${encodeURIComponent(resource)}` })
  const varying = new Set(['date', 'x-request-id'])
  const responseFor = async (handle: string, resource: string) => {
    const { statusCode, headers, body } = await ask(resource)
    const kept = Object.entries(headers).filter(([name]) => !varying.has(name))
    return { statusCode, headers: Object.fromEntries(kept), body: body.replaceAll(handle, 'somebody') }
  }
  for (const resourceOf of [
    (handle: string) => `acct:${handle}@localhost`,
    (handle: string) => `acct:${handle}@localhost:4401`,
    (handle: string) => `http://localhost:4401/@${handle}`,
    (handle: string) => `acct:${handle}@elsewhere.example`,
  ])
    assert.deepEqual(
      await responseFor(person.handle, resourceOf(person.handle)),
      await responseFor(stranger, resourceOf(stranger)),
    )

  const took: Record<string, number[]> = { [person.handle]: [], [stranger]: [] }
  for (let round = 0; round < 300; round += 1)
    for (const handle of round % 2 ? [person.handle, stranger] : [stranger, person.handle]) {
      const startedAt = performance.now()
      await ask(`acct:${handle}@localhost:4401`)
      took[handle]?.push(performance.now() - startedAt)
    }
  const [known = 0, unknown = 0] = Object.values(took).map((times) => times.toSorted((a, b) => a - b)[150] ?? 0)
  assert.ok(Math.abs(known - unknown) < Math.max(known, unknown) / 2, `${known} ms, ${unknown} ms`)
})

test('JWT-16 WebFinger returns the issuer for accounts and its own URL, and rejects other resources', async () => {
  const person = await world.person()
  const ask = (resource: string) =>
    world.auth.inject({ url: `/.well-known/webfinger?resource=${encodeURIComponent(resource)}` })
  const known = await ask(`acct:${person.handle}@localhost:4401`)
  const unknown = await ask('acct:nobody-at-all@localhost:4401')
  assert.equal(known.statusCode, 200)
  assert.match(String(known.headers['content-type']), /^application\/jrd\+json/)
  assert.deepEqual(known.json().links, unknown.json().links)
  assert.deepEqual(known.json().links, [
    { rel: 'http://openid.net/specs/connect/1.0/issuer', href: 'http://localhost:4401' },
  ])
  assert.equal((await ask(`http://localhost:4401/@${person.handle}`)).statusCode, 200)
  for (const own of ['http://localhost:4401', 'http://localhost:4401/'])
    assert.deepEqual((await ask(own)).json().links, known.json().links)
  const issuer = 'http://openid.net/specs/connect/1.0/issuer'
  for (const [relations, count] of [
    [[issuer], 1],
    [['avatar'], 0],
    [['avatar', issuer], 1],
    [['avatar', 'author'], 0],
  ] as const) {
    const query = new URLSearchParams([
      ['resource', 'http://localhost:4401'],
      ...relations.map((each) => ['rel', each]),
    ])
    const answer = await world.auth.inject({ url: `/.well-known/webfinger?${query}` })
    assert.deepEqual([answer.statusCode, answer.json().links?.length], [200, count], relations.join())
  }
  assert.equal((await ask('http://localhost:4401/account')).statusCode, 404)
  assert.equal((await ask('acct:alice@elsewhere.example')).statusCode, 404)
  for (const wrong of ['javascript:alert(1)', 'alice', `acct:${'a'.repeat(5000)}@localhost:4401`])
    assert.ok([400, 404].includes((await ask(wrong)).statusCode), wrong)
  assert.equal((await world.auth.inject({ url: '/.well-known/webfinger' })).statusCode, 400)
})

test('JWT-16 WebFinger finds an account without a port (RFC 7565), but no URL and no other port', async () => {
  const ask = async (resource: string) => {
    const answer = await world.auth.inject({ url: '/.well-known/webfinger', query: { resource } })
    return [answer.statusCode, answer.json().links?.[0].href]
  }
  for (const own of ['acct:alice@localhost', 'ACCT:alice@LOCALHOST', 'acct:alice@localhost:4401'])
    assert.deepEqual(await ask(own), [200, 'http://localhost:4401'], own)
  for (const other of ['acct:alice@localhost:4400', 'acct:alice@localhost:', 'http://localhost/@alice'])
    assert.deepEqual(await ask(other), [404, undefined], other)
})

test('JWT-09 an opaque token that is cut, padded or in other case is invalid', async () => {
  const { tokens } = await signedIn()
  for (const altered of [
    tokens.access_token.slice(0, -1),
    `${tokens.access_token}=`,
    tokens.access_token.toUpperCase(),
    randomUUID(),
  ])
    assert.equal((await userinfo(altered)).statusCode, 401)
})
