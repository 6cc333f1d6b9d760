import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test, type TestContext } from 'node:test'
import {
  byEs256,
  byHs256,
  byRs256,
  newRsaSigner,
  newSigner,
  startTokenIssuer,
  writeJwt,
} from '../../server/testing/token-issuer.ts'
import { Challenge, createResource, CountersignError, verifyDelegatedToken } from '../src/resource/resource.ts'

const audience = 'https://calendar.example/api'
const seconds = (difference: number) => Math.floor(Date.now() / 1000) + difference

type Issuer = Awaited<ReturnType<typeof startTokenIssuer>>
let issuer: Issuer
let attacker: Issuer
let settings: { authUrl: string; audience: string; resourceKey: string }
before(async () => {
  issuer = await startTokenIssuer()
  attacker = await startTokenIssuer()
  settings = { authUrl: issuer.origin, audience, resourceKey: 'calendar' }
})
after(() => Promise.all([issuer.close(), attacker.close()]))

const refused = (description: string) => (error: unknown) =>
  error instanceof Challenge && error.code === 'invalid_token' && error.description === description
const malformed = 'Not a delegated token.'

test('a delegated token contains the user, the app, the scopes and the delegation', async () => {
  const claims = { sub: randomUUID(), grant_id: randomUUID(), jti: randomUUID(), exp: seconds(600) }
  const token = issuer.issue({ ...claims, scope: 'calendar.read calendar.write', com_mode: 'background' })
  assert.deepEqual(await verifyDelegatedToken(settings, token), {
    identityId: claims.sub,
    sourceClientId: 'app_assistant',
    scopes: ['calendar.read', 'calendar.write'],
    grantId: claims.grant_id,
    mode: 'background',
    expiresAt: new Date(claims.exp * 1000).toISOString(),
    tokenId: claims.jti,
  })
  assert.deepEqual((await verifyDelegatedToken(settings, issuer.issue({ scope: '' }))).scopes, [])
})

/** By an attacker who has read the key set, and has keys of their own. */
const forgeries: { what: string; forge: () => string; description?: string }[] = [
  { what: 'JWT-02 an unsigned token', forge: () => forge({ alg: 'none' }, () => Buffer.alloc(0)) },
  { what: 'JWT-02 a token whose signature was removed', forge: () => cut(issuer.issue()) },
  {
    what: 'JWT-02 an HMAC under the public key as PEM',
    forge: () => forge({ alg: 'HS256' }, byHs256(issuer.signer.publicKey.export({ format: 'pem', type: 'spki' }))),
  },
  {
    what: 'JWT-02 an HMAC under the public key as JWK',
    forge: () => forge({ alg: 'HS256' }, byHs256(JSON.stringify(issuer.keys[0]))),
  },
  {
    what: 'JWT-02 an RSA signature by another key under the id of the key',
    forge: () => forge({ alg: 'RS256' }, byRs256(newRsaSigner().privateKey)),
  },
  {
    what: 'JWT-02 an RSA signature by the key of the service for ID tokens',
    forge: () => forge({ alg: 'RS256', kid: `${issuer.kid}-rsa` }, byRs256(issuer.rsa.privateKey)),
  },
  { what: 'JWT-05 a signature by another key under the id of the key', forge: () => forge({}, byAttacker()) },
  {
    what: 'JWT-05 a key that the token contains',
    forge: () => forge({ jwk: attacker.keys[0] }, byEs256(attacker.signer.privateKey)),
  },
  {
    what: 'JWT-05 a key set that the token names',
    forge: () => forge({ jku: keySetOf(attacker), kid: attacker.kid }, byEs256(attacker.signer.privateKey)),
  },
  {
    what: 'JWT-05 a certificate that the token names',
    forge: () => forge({ x5u: `${attacker.origin}/certificate`, x5c: ['MIIB'] }, byEs256(attacker.signer.privateKey)),
  },
  { what: 'JWT-17 a key id that is a path', forge: () => issuer.issue({}, { kid: '../../etc/passwd' }) },
  { what: 'JWT-17 a key id that is not a string', forge: () => issuer.issue({}, { kid: { $ne: '' } }) },
  { what: 'an unknown critical extension', forge: () => issuer.issue({}, { crit: ['b64'], b64: false }) },
  { what: 'no JWT', forge: () => 'cs_at_0123456789' },
  { what: 'nothing', forge: () => '' },
  { what: 'a token of a megabyte', forge: () => issuer.issue({ scope: 'a'.repeat(1_000_000) }) },
]
for (const { what, forge, description = malformed } of forgeries)
  test(`${what} is rejected`, () => assert.rejects(verifyDelegatedToken(settings, forge()), refused(description)))

function forge(header: Record<string, unknown>, signatureOf: (data: Buffer) => Buffer): string {
  return writeJwt({ alg: 'ES256', typ: 'at+jwt', kid: issuer.kid, ...header }, issuer.claimsWith(), signatureOf)
}
const byAttacker = () => byEs256(newSigner().privateKey)
const cut = (token: string) => token.slice(0, token.lastIndexOf('.') + 1)
const keySetOf = ({ origin }: Issuer) => `${origin}/.well-known/jwks.json`

test('JWT-05 no URL in a token is fetched', () => assert.deepEqual(attacker.requested, []))

test('JWT-01 a token with any changed character is rejected', async () => {
  const token = issuer.issue()
  const places = Array.from({ length: 60 }, (_, index) => Math.floor((index * token.length) / 60))
  for (const place of places.filter((index) => token[index] !== '.')) {
    const changed = token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1)
    await assert.rejects(verifyDelegatedToken(settings, changed), Challenge)
  }
})

test('a payload with more scopes under an old signature is rejected', async () => {
  const [header, , signature] = issuer.issue().split('.')
  const claims = Buffer.from(JSON.stringify(issuer.claimsWith({ scope: 'calendar.write' }))).toString('base64url')
  await assert.rejects(verifyDelegatedToken(settings, `${header}.${claims}.${signature}`), refused(malformed))
})

/** Signed by the service itself, for another purpose or at another time. */
const misused: { what: string; claims?: () => object; header?: object; description?: string }[] = [
  { what: 'JWT-03 an ID token', claims: idToken, header: { typ: 'JWT' }, description: 'Not an access token.' },
  { what: 'JWT-03 a token without a type', header: { typ: undefined }, description: 'Not an access token.' },
  { what: 'JWT-03 a token of type JWT', header: { typ: 'JWT' }, description: 'Not an access token.' },
  {
    what: 'DEL-17 the access token of the source app itself',
    claims: () => ({ aud: issuer.origin, act: undefined, grant_id: undefined, target_resource: undefined }),
    description: 'The token is for another audience.',
  },
  {
    what: 'DEL-17 a token for another audience',
    claims: () => ({ aud: 'https://mail.example' }),
    ...another('audience'),
  },
  {
    what: 'DEL-17 a token for an audience in another case',
    claims: () => ({ aud: audience.toUpperCase() }),
    ...another('audience'),
  },
  { what: 'DEL-17 a token for a longer audience', claims: () => ({ aud: `${audience}/` }), ...another('audience') },
  {
    what: 'DEL-17 a token for several audiences',
    claims: () => ({ aud: [audience, 'https://mail.example'] }),
    ...another('audience'),
  },
  { what: 'DEL-17 a list of one audience', claims: () => ({ aud: [audience] }), ...another('audience') },
  { what: 'DEL-17 a token without an audience', claims: () => ({ aud: undefined }), ...another('audience') },
  {
    what: 'DEL-17 a token for another resource of the same owner',
    claims: () => ({ target_resource: 'contacts' }),
    ...another('resource'),
  },
  {
    what: 'a token of another issuer',
    claims: () => ({ iss: attacker.origin }),
    description: 'The token is from another issuer.',
  },
  {
    what: 'a token of the issuer with a slash',
    claims: () => ({ iss: `${issuer.origin}/` }),
    description: 'The token is from another issuer.',
  },
  { what: 'DEL-17 a chain of apps', claims: () => ({ act: { sub: 'app_assistant', act: { sub: 'app_other' } } }) },
  { what: 'DEL-17 another app behind the acting one', claims: () => ({ act: { sub: 'app_other' } }) },
  { what: 'DEL-17 no acting app', claims: () => ({ act: undefined }) },
  { what: 'an acting app that is not an object', claims: () => ({ act: 'app_assistant' }) },
  {
    what: 'JWT-06 a token with a lifetime of an hour',
    claims: () => ({ exp: seconds(3600) }),
    description: 'The lifetime of the token is too long.',
  },
  { what: 'a token without an expiry', claims: () => ({ exp: undefined }), description: 'The token has expired.' },
  {
    what: 'a token without an issue time',
    claims: () => ({ iat: undefined }),
    description: 'The token was issued too long ago, or in the future.',
  },
  ...['sub', 'jti', 'client_id', 'scope', 'grant_id', 'com_mode', 'target_resource'].flatMap((name) => [
    { what: `a token without ${name}`, claims: () => ({ [name]: undefined }) },
    { what: `a token whose ${name} is not a string`, claims: () => ({ [name]: ['calendar'] }) },
  ]),
  { what: 'a token without a subject', claims: () => ({ sub: '' }) },
  { what: 'an unknown mode', claims: () => ({ com_mode: 'always' }) },
]
for (const { what, claims = () => ({}), header = {}, description = malformed } of misused)
  test(`${what} is rejected`, () =>
    assert.rejects(verifyDelegatedToken(settings, issuer.issue({ ...claims() }, { ...header })), refused(description)))

function another(what: string) {
  return { description: `The token is for another ${what}.` }
}
function idToken() {
  return { aud: 'app_assistant', nonce: 'n', act: undefined, grant_id: undefined, scope: undefined }
}

/** Stops the clock of this process, so that a difference of one second is exact. */
function halt(t: TestContext): void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
}

test('JWT-06 a clock difference of thirty seconds is tolerated, and no more', async (t) => {
  halt(t)
  const at = (iat: number, exp: number) => issuer.issue({ iat: seconds(iat), exp: seconds(exp) })
  await verifyDelegatedToken(settings, at(-629, -29))
  await assert.rejects(verifyDelegatedToken(settings, at(-630, -30)), refused('The token has expired.'))
  await assert.rejects(verifyDelegatedToken(settings, at(-60, -31)), refused('The token has expired.'))
  await verifyDelegatedToken(settings, at(29, 629))
  const future = refused('The token was issued too long ago, or in the future.')
  await assert.rejects(verifyDelegatedToken(settings, at(31, 631)), future)
  await assert.rejects(verifyDelegatedToken(settings, issuer.issue({ nbf: seconds(31) })), Challenge)
})

test('without a resource key in the settings, a token for any resource of the audience is accepted', async () => {
  const token = issuer.issue({ target_resource: 'contacts' })
  await verifyDelegatedToken({ authUrl: issuer.origin, audience }, token)
})

test('a missing scope is rejected, and the challenge names the required scope', async () => {
  const { verify, requireScope } = createResource(settings)
  const token = issuer.issue({ scope: 'calendar.read calendar.write' })
  const delegated = await verify(token, { scope: 'calendar.write calendar.read' })
  const insufficient = (error: unknown) => {
    assert.ok(error instanceof Challenge)
    assert.deepEqual([error.code, error.status], ['insufficient_scope', 403])
    assert.match(error.headers['www-authenticate'], /^Bearer error="insufficient_scope", .+, scope="calendar\.\w+"$/)
    return true
  }
  await assert.rejects(verify(token, { scope: 'calendar.delete' }), insufficient)
  await assert.rejects(verify(token, { scope: 'calendar.rea' }), insufficient)
  assert.throws(() => requireScope(delegated, 'calendar.Read'), insufficient)
  requireScope(delegated, 'calendar.read')
})

test('a scope option of another form throws instead of accepting every token', async () => {
  const calendar = createResource(settings)
  const token = issuer.issue()
  for (const written of ['calendar.delete', { scopes: 'calendar.delete' }, { scope: ['calendar.delete'] }, null]) {
    // As callers in JavaScript could write it.
    const requested = written as { scope?: string }
    await assert.rejects(calendar.verify(token, requested), TypeError)
    assert.throws(() => calendar.express(requested), TypeError)
  }
})

test('the keys are fetched once for concurrent requests, and again for unknown keys at a limited rate', async (t) => {
  halt(t)
  const own = await startTokenIssuer()
  t.after(() => own.close())
  const { verify } = createResource({ authUrl: own.origin, audience })
  const another = createResource({ authUrl: own.origin, audience })
  await Promise.all([verify(own.issue()), verify(own.issue()), another.verify(own.issue())])
  const reads = () => own.countOf('/.well-known/jwks.json')
  assert.equal(reads(), 1)

  const rotated = newSigner()
  const kid = 'the-next'
  const next = writeJwt({ alg: 'ES256', typ: 'at+jwt', kid }, own.claimsWith(), byEs256(rotated.privateKey))
  own.says('/.well-known/jwks.json', {
    body: { keys: [...own.keys, { ...rotated.publicKey.export({ format: 'jwk' }), kid, alg: 'ES256' }] },
  })
  await assert.rejects(verify(next), Challenge)
  await assert.rejects(verify(own.issue({}, { kid: 'made-up' })), Challenge)
  assert.equal(reads(), 1)
  t.mock.timers.setTime(Date.now() + 30_000)
  await verify(next)
  await assert.rejects(verify(own.issue({}, { kid: 'made-up' })), Challenge)
  assert.equal(reads(), 2)
})

const cannotVerify = (error: unknown) =>
  error instanceof CountersignError && error.code === 'verification_unavailable' && error.status === 503

test('without the keys every request is rejected, but not as an invalid token', async (t) => {
  const own = await startTokenIssuer()
  t.after(() => own.close())
  const { verify } = createResource({ authUrl: own.origin, audience })
  const forged = { keys: attacker.keys }
  attacker.says('/keys', { body: forged })
  for (const reply of [
    'nothing' as const,
    { status: 503, body: {} },
    { status: 302, headers: { location: `${attacker.origin}/keys` }, body: forged },
    { body: '<h1>Keys</h1>' },
    { body: { keys: 'none' } },
  ]) {
    own.says('/.well-known/jwks.json', reply)
    await assert.rejects(verify(own.issue()), cannotVerify)
  }
  assert.equal(attacker.countOf('/keys'), 0)
  own.says('/.well-known/jwks.json', { body: { keys: own.keys } })
  await verify(own.issue())
})

test('invalid settings throw at once', () => {
  assert.throws(() => createResource({ authUrl: 'http://id.example', audience }), TypeError)
  assert.throws(() => createResource({ authUrl: issuer.origin, audience: '' }), TypeError)
  const app = { clientId: 'app_calendar', clientSecret: 'cs_test' }
  const withBase = (baseUrl: string, more = {}) =>
    createResource({ ...settings, introspect: { baseUrl, ...app, ...more } })
  assert.throws(() => withBase('http://api.id.example'), TypeError)
  assert.throws(() => withBase('https://api.id.example', { clientSecret: '' }), TypeError)
  assert.throws(() => withBase('https://api.id.example', { everySeconds: -1 }), TypeError)
})
