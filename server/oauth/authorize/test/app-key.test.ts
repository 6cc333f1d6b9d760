import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { FormerCiphertext } from '@countersign/protocol/accounts/keys'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
before(async () => {
  world = await createWorld()
  app = await world.app({ supportsE2ee: true })
})
after(() => world.close())

const newPublicKey = (): string => {
  const { publicKey } = generateKeyPairSync('x25519')
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}
const pair = (name = 'sealed') => ({ appPublicKey: newPublicKey(), encryptedAppPrivateKey: `private ${name}` })

/** Consents like the consent page, with the given app key fields. */
const consent = (
  { headers, identityId }: Pick<Person, 'headers' | 'identityId'>,
  requested: object,
  at: TestApp = app,
) =>
  world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers,
    payload: { clientId: at.clientId, redirectUri: at.redirectUri, identityId, scope: 'openid', ...requested },
  })
const refused = async (answer: ReturnType<typeof consent>) => {
  const { statusCode, ...rest } = await answer
  return [statusCode, rest.json().error]
}
const authorizationOf = async ({ headers, identityId }: Person, { clientId } = app) => {
  const url = `/api/oauth/authorization/${clientId}?identity_id=${identityId}`
  return (await world.api.inject({ url, headers })).json().authorization
}
const actsOf = async ({ userId }: Person) => {
  const events = world.db.selectFrom('audit_event').select('action').where('user_id', '=', userId)
  const entries = await events.orderBy('event_id').execute()
  return entries.map(({ action }) => action).filter((action) => /^app(?:_key)?\./.test(action))
}

test('AUZ-22 an app with end-to-end encryption gets no code for an identity without a key in it', async () => {
  const person = await world.person()
  assert.deepEqual(await refused(consent(person, {})), [400, 'app_key_required'])
  assert.deepEqual(await refused(consent(person, { scope: 'openid e2ee:asymmetric' })), [400, 'app_key_required'])
  assert.equal(await authorizationOf(person), null)
  assert.deepEqual(await actsOf(person), [])
})

test('an app key is symmetric by default and is returned at every authorization', async () => {
  const person = await world.person()
  const first = await consent(person, { encryptedAppKey: 'sealed' })
  assert.equal(first.statusCode, 200, first.body)
  assert.equal(first.json().appKey.encryptedAppKey, 'sealed')
  const { encryptionMode, encryptedAppKey, appPublicKey, scope } = await authorizationOf(person)
  assert.deepEqual([encryptionMode, encryptedAppKey, appPublicKey], ['symmetric', 'sealed', null])
  assert.equal(scope, 'openid e2ee:symmetric')

  const again = await consent(person, {})
  assert.deepEqual(again.json().appKey, first.json().appKey)
  assert.deepEqual(await actsOf(person), ['app.authorized', 'app_key.created', 'app.signed_in'])
})

test('a key pair is stored in addition to a symmetric key, and neither replaces the other', async () => {
  const person = await world.person()
  await consent(person, { encryptedAppKey: 'sealed' })
  const made = pair()
  const answer = await consent(person, { scope: 'openid e2ee:asymmetric', ...made })
  assert.equal(answer.statusCode, 200, answer.body)
  const { encryptionMode, encryptedAppKey, ...rest } = await authorizationOf(person)
  assert.deepEqual([encryptionMode, encryptedAppKey], ['asymmetric', 'sealed'])
  assert.deepEqual([rest.appPublicKey, rest.encryptedAppPrivateKey], Object.values(made))
})

test('E2E-04 a second key is ignored and the first one is returned', async () => {
  const person = await world.person()
  await consent(person, { encryptedAppKey: 'first' })
  const second = await consent(person, { encryptedAppKey: 'second' })
  assert.deepEqual([second.statusCode, second.json().appKey.encryptedAppKey], [200, 'first'])
  assert.equal((await authorizationOf(person)).encryptedAppKey, 'first')
})

test('E2E-09 browsers that connect an app for the first time concurrently all deliver the same key', async () => {
  const person = await world.person()
  const modes = [(name: string) => ({ encryptedAppKey: name }), (name: string) => pair(name)]
  for (const [index, make] of modes.entries()) {
    const scope = index === 0 ? 'openid' : 'openid e2ee:asymmetric'
    const names = Array.from({ length: 12 }, (_, each) => `browser ${each}`)
    const answers = await Promise.all(names.map((name) => consent(person, { scope, ...make(name) })))
    for (const { statusCode, body } of answers) assert.equal(statusCode, 200, body)
    assert.equal(new Set(answers.map((answer) => JSON.stringify(answer.json().appKey))).size, 1)
    assert.equal(new Set(answers.map((answer) => answer.json().redirectUrl)).size, 12)
  }
})

test('a key is replaced only on request, and the former key is returned once', async () => {
  const person = await world.person()
  await consent(person, { encryptedAppKey: 'first' })
  const reset = await consent(person, { scope: 'openid e2ee:reset', encryptedAppKey: 'second' })
  assert.equal(reset.statusCode, 200, reset.body)
  const { appKey, replacedAppKey } = reset.json()
  assert.deepEqual([appKey.encryptedAppKey, replacedAppKey.encryptedAppKey], ['second', 'first'])
  assert.equal((await authorizationOf(person)).scope, 'openid e2ee:symmetric')
  assert.equal((await consent(person, {})).json().replacedAppKey, undefined)
  assert.deepEqual(await refused(consent(person, { scope: 'openid e2ee:reset' })), [400, 'app_key_required'])
  assert.deepEqual(
    await refused(consent(person, { scope: 'openid e2ee:reset', prompt: 'none', encryptedAppKey: 'x' })),
    [403, 'consent_required'],
  )
  assert.ok((await actsOf(person)).includes('app_key.replaced'))
})

/** Former app keys in the account export, oldest first. */
const formerOf = async ({ headers }: Person) => {
  const answer = await world.api.inject({ url: '/api/account/export', headers })
  const { formerCiphertexts } = answer.json<{ formerCiphertexts: FormerCiphertext[] }>()
  return formerCiphertexts.map(({ kind, identityId, reference, ciphertext }) => ({
    ...{ kind, identityId, reference, ciphertext },
  }))
}

test('E2E-12 a key that a reset replaces is kept, also if no app ever gets the answer', async () => {
  const person = await world.person()
  await consent(person, { encryptedAppKey: 'first' })
  await consent(person, { scope: 'openid e2ee:asymmetric', ...pair('first pair') })
  assert.deepEqual(await formerOf(person), [])
  for (const encryptedAppKey of ['second', 'third'])
    assert.equal((await consent(person, { scope: 'openid e2ee:reset', encryptedAppKey })).statusCode, 200)
  const pairReset = await consent(person, { scope: 'openid e2ee:asymmetric e2ee:reset', ...pair('second pair') })
  assert.equal(pairReset.statusCode, 200, pairReset.body)
  const { identityId } = person
  const ciphertexts = ['first', 'second', 'private first pair']
  assert.deepEqual(
    await formerOf(person),
    ciphertexts.map((ciphertext) => ({ kind: 'app_key', identityId, reference: app.clientId, ciphertext })),
  )
  await consent(person, {})
  assert.equal((await formerOf(person)).length, 3)
})

test('concurrent resets each return the key that they replaced, and no key is lost', async () => {
  const person = await world.person()
  await consent(person, { encryptedAppKey: 'first' })
  const names = Array.from({ length: 8 }, (_, index) => `reset ${index}`)
  const answers = await Promise.all(
    names.map((encryptedAppKey) => consent(person, { scope: 'openid e2ee:reset', encryptedAppKey })),
  )
  const steps = new Map<string, string>(
    answers.map((answer) => [answer.json().replacedAppKey.encryptedAppKey, answer.json().appKey.encryptedAppKey]),
  )
  const walked = ['first']
  for (let at = steps.get('first'); at !== undefined; at = steps.get(at)) walked.push(at)
  assert.deepEqual(walked.toSorted(), ['first', ...names].toSorted())
  assert.equal((await authorizationOf(person)).encryptedAppKey, walked.at(-1))
})

test('creating or replacing an app key requires recent authentication, using one does not', async () => {
  const person = await world.person()
  world.pass(301)
  const first = { encryptedAppKey: 'first' }
  assert.deepEqual(await refused(consent(person, first)), [403, 'reauthentication_required'])
  const headers = await person.signIn()
  assert.equal((await consent({ ...person, headers }, first)).statusCode, 200)
  world.pass(301)
  assert.equal((await consent({ ...person, headers }, {})).statusCode, 200)
  const reset = consent({ ...person, headers }, { scope: 'openid e2ee:reset', encryptedAppKey: 'second' })
  assert.deepEqual(await refused(reset), [403, 'reauthentication_required'])
})

test('E2E-05 the app keys of another identity or app can be neither read nor probed', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const made = pair()
  await consent(ada, { scope: 'openid e2ee:asymmetric', ...made })
  const url = `/api/oauth/authorization/${app.clientId}?identity_id=${ada.identityId}`
  assert.equal((await world.api.inject({ url, headers: eve.headers })).statusCode, 404)
  const claimed = { scope: 'openid e2ee:asymmetric', appPublicKey: made.appPublicKey, encryptedAppPrivateKey: 'mine' }
  assert.deepEqual(await refused(consent(eve, claimed)), [409, 'key_in_use'])

  const { id } = await authorizationOf(ada)
  const gone = `/api/oauth/authorizations/${id}`
  assert.equal((await world.api.inject({ method: 'DELETE', url: gone, headers: ada.headers })).statusCode, 204)
  assert.deepEqual(await refused(consent(eve, claimed)), [409, 'key_in_use'])
  const elsewhere = await world.app({ supportsE2ee: true })
  assert.equal((await consent(eve, claimed, elsewhere)).statusCode, 200)
})

test('E2E-07 an answer with a key is not posted, because its fragment would be lost', async () => {
  const person = await world.person()
  const posted = consent(person, { encryptedAppKey: 'sealed', responseMode: 'form_post' })
  assert.deepEqual(await refused(posted), [400, 'invalid_request'])
  const query = {
    client_id: app.clientId,
    response_type: 'code',
    redirect_uri: app.redirectUri,
    response_mode: 'form_post',
    scope: 'openid',
  }
  const page = await world.auth.inject({ url: `/signin?${new URLSearchParams(query)}` })
  assert.match(page.body + String(page.headers.location), /invalid_request/)
})

test('E2E-06 a redirect URI has no fragment of its own', async () => {
  const payload = { name: 'An app', redirectUris: ['https://app.example/callback#app_key=mine'], supportsE2ee: true }
  const created = await world.api.inject({ method: 'POST', url: '/api/admin/apps', headers: world.admin, payload })
  assert.deepEqual([created.statusCode, created.json().error], [400, 'invalid_redirect_uri'])
})

test('E2E-10 disconnecting an app ends its key and revokes its tokens; a new connection has a new key', async () => {
  const person = await world.person()
  const { redirectUrl } = (await consent(person, { encryptedAppKey: 'first' })).json()
  const tokens = await app.redeem(new URL(redirectUrl).searchParams.get('code') ?? '')
  const { id } = await authorizationOf(person)
  const url = `/api/oauth/authorizations/${id}`
  await world.api.inject({ method: 'DELETE', url, headers: person.headers })
  assert.deepEqual(await refused(consent(person, {})), [400, 'app_key_required'])
  const again = await consent(person, { encryptedAppKey: 'second' })
  assert.equal(again.json().appKey.encryptedAppKey, 'second')
  const headers = { authorization: `Bearer ${tokens.json().access_token}` }
  assert.equal((await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode, 401)
})

test('E2E-13 the keys of an app that is disconnected without recent authentication are kept', async () => {
  const [person, other] = [await world.person(), await world.app({ supportsE2ee: true })]
  await consent(person, { encryptedAppKey: 'here' })
  await consent(person, { scope: 'openid e2ee:asymmetric', ...pair('here') })
  await consent(person, { encryptedAppKey: 'elsewhere' }, other)
  world.pass(301)
  const disconnect = async () => {
    const url = `/api/oauth/authorizations/${(await authorizationOf(person)).id}`
    assert.equal((await world.api.inject({ method: 'DELETE', url, headers: person.headers })).statusCode, 204)
  }
  await disconnect()
  assert.equal(await authorizationOf(person), null)
  const { identityId } = person
  const kept = { kind: 'app_key', identityId, reference: app.clientId }
  const former = await formerOf(person)
  assert.deepEqual(
    former.toSorted((one, two) => one.ciphertext.localeCompare(two.ciphertext)),
    ['here', 'private here'].map((ciphertext) => ({ ...kept, ciphertext })),
  )
  assert.equal((await authorizationOf(person, other)).encryptedAppKey, 'elsewhere')

  const again = { ...person, headers: await person.signIn() }
  assert.equal((await consent(again, { encryptedAppKey: 'again' })).json().appKey.encryptedAppKey, 'again')
  assert.equal((await formerOf(again)).length, 2)
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: again.headers })
  assert.ok(deleted.statusCode < 300, deleted.body)
  const stored = world.db.selectFrom('encryption_former_ciphertext').where('user_id', '=', person.userId)
  assert.deepEqual(await stored.selectAll().execute(), [], 'a deleted account leaves nothing')
})

test('E2E-11 malformed app keys are rejected', async () => {
  const person = await world.person()
  for (const encryptedAppKey of [7, {}, ['sealed'], 'a'.repeat(16 * 1024 + 1)])
    assert.deepEqual(await refused(consent(person, { encryptedAppKey })), [400, 'invalid_request'])
  assert.deepEqual(await refused(consent(person, { encryptedAppKey: '' })), [400, 'app_key_required'])
  const huge = await consent(person, { encryptedAppKey: 'a'.repeat(1024 * 1024) })
  assert.equal(huge.statusCode, 413)
})

const halves: [string, object, string][] = [
  ['no public key', { encryptedAppPrivateKey: 'sealed' }, 'invalid_request'],
  ['no private key', { appPublicKey: newPublicKey() }, 'invalid_request'],
  ['an invalid public key', { ...pair(), appPublicKey: 'AAAA' }, 'invalid_public_key'],
  ['a public key of another kind', { ...pair(), appPublicKey: otherKind() }, 'invalid_public_key'],
  ['a public key of small order', { ...pair(), appPublicKey: lowOrder() }, 'invalid_public_key'],
]
for (const [what, made, code] of halves)
  test(`a key pair with ${what} is rejected`, async () => {
    const person = await world.person()
    assert.deepEqual(await refused(consent(person, { scope: 'openid e2ee:asymmetric', ...made })), [400, code])
  })

function otherKind(): string {
  return generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

/** Returns the SPKI of an X25519 point of small order, with which every key agreement yields zeros (RFC 7748 §6.1). */
function lowOrder(): string {
  return Buffer.concat([Buffer.from('302a300506032b656e032100', 'hex'), Buffer.alloc(32)]).toString('base64')
}

test('the key modes exclude each other, and a key pair is rejected in symmetric mode', async () => {
  const person = await world.person()
  const both = consent(person, { scope: 'openid e2ee:symmetric e2ee:asymmetric', encryptedAppKey: 'sealed' })
  assert.deepEqual(await refused(both), [400, 'invalid_scope'])
  assert.deepEqual(await refused(consent(person, pair())), [400, 'invalid_request'])
})

test('an app without end-to-end encryption cannot request a key and gets none', async () => {
  const [person, plain] = [await world.person(), await world.app()]
  assert.deepEqual(await refused(consent(person, { encryptedAppKey: 'sealed' }, plain)), [400, 'invalid_request'])
  for (const scope of ['e2ee:symmetric', 'e2ee:asymmetric', 'e2ee:reset'])
    assert.deepEqual(await refused(consent(person, { scope: `openid ${scope}` }, plain)), [400, 'invalid_scope'])
  assert.equal((await consent(person, { encryptedAppKey: null }, plain)).statusCode, 200)
})

test('an app that turns off end-to-end encryption keeps its users, whose tokens lose the e2ee scope', async () => {
  const [person, changing] = [await world.person(), await world.app({ supportsE2ee: true })]
  const { redirectUrl } = (await consent(person, { encryptedAppKey: 'sealed' }, changing)).json()
  const tokens = await changing.redeem(new URL(redirectUrl).searchParams.get('code') ?? '')
  assert.equal(tokens.json().scope, 'openid e2ee:symmetric')
  const url = `/api/admin/apps/${changing.clientId}`
  const changed = await world.api.inject({
    method: 'PATCH',
    url,
    headers: world.admin,
    payload: { supportsE2ee: false },
  })
  assert.equal(changed.json().supportsE2ee, false)
  assert.equal((await consent(person, {}, changing)).json().appKey, undefined)
})

test('E2E-08 no server answer to an app contains a key, encrypted or not', async () => {
  const person = await world.person()
  const made = pair('canary')
  const scope = 'openid offline_access e2ee:asymmetric'
  const { redirectUrl } = (await consent(person, { scope, ...made })).json()
  const first = await app.redeem(new URL(redirectUrl).searchParams.get('code') ?? '')
  const refreshed = await app.refresh(first.json().refresh_token)
  const headers = { authorization: `Bearer ${first.json().access_token}` }
  const userinfo = await world.api.inject({ url: '/api/oauth/userinfo', headers })
  const looked = await world.api.inject({
    url: '/api/encryption/app-lookup',
    query: { client_id: app.clientId, handle: person.handle },
  })
  assert.deepEqual(
    [first, refreshed, userinfo, looked].map(({ statusCode }) => statusCode),
    [200, 200, 200, 200],
  )
  for (const { body } of [first, refreshed, userinfo, looked]) assert.doesNotMatch(body, /canary/)
  assert.doesNotMatch(redirectUrl, /canary|#/)
})

test('the sign-in page gets the app key request and the recipient key', async () => {
  const { publicKey } = generateKeyPairSync('x25519')
  const { kty, crv, x } = publicKey.export({ format: 'jwk' })
  const encoded = (jwk: object) => Buffer.from(JSON.stringify(jwk)).toString('base64url')
  const keyIn = async (parameters: Record<string, string>, { clientId, redirectUri } = app) => {
    const query = new URLSearchParams({
      client_id: clientId,
      response_type: 'code',
      redirect_uri: redirectUri,
      scope: 'openid',
      ...parameters,
    })
    const page = await world.auth.inject({ url: `/signin?${query}` })
    const view = /id="view">(.*)<\/script>/.exec(page.body)?.[1]
    return view ? JSON.parse(view).key : new URL(String(page.headers.location)).searchParams.get('error')
  }
  assert.deepEqual(await keyIn({}), { mode: 'symmetric', reset: false })
  const sealed = { scope: 'openid e2ee:asymmetric e2ee:reset', app_key_jwk: encoded({ kty, crv, x, kid: 'mine' }) }
  assert.deepEqual(await keyIn(sealed), { mode: 'asymmetric', reset: true, recipient: { kty, crv, x } })
  for (const jwk of [{ kty, crv, x, d: x }, { kty, crv: 'X448', x }, { kty, crv, x: 'AAAA' }, 7])
    assert.equal(await keyIn({ app_key_jwk: encoded(Object(jwk)) }), 'invalid_request')
  const plain = await world.app()
  assert.equal(await keyIn({}, plain), undefined)
  assert.equal(await keyIn({ app_key_jwk: encoded({ kty, crv, x }) }, plain), 'invalid_request')
})
