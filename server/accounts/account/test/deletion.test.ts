import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import { createAuthenticator } from '#testing/authenticator.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'
import { tablesWith } from '#testing/stored-text.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({ environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'id@example.com' } })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

type Headers = Record<string, string>

const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH', url: string, headers: Headers, payload?: object) =>
  world.api.inject({ method, url, headers, ...(payload !== undefined && { payload }) })
const deleteIdentity = (identityId: IdentityId, headers: Headers) =>
  send('DELETE', `/api/identities/${identityId}`, headers)
const deleteAccount = (headers: Headers) => send('DELETE', '/api/account', headers)
const register = (handle: string) => send('POST', '/api/auth/register/start', {}, { handle, displayName: 'Someone' })
const userinfo = async (token: string) =>
  (await send('GET', '/api/oauth/userinfo', { authorization: `Bearer ${token}` })).statusCode
const errorOf = (answer: { statusCode: number; json: () => { error?: string } }) => [
  answer.statusCode,
  answer.json().error,
]

async function addIdentity(headers: Headers, handle = `second-${randomBytes(6).toString('hex')}`): Promise<Identity> {
  const added = await send('POST', '/api/identities', headers, { handle, displayName: 'Second' })
  assert.equal(added.statusCode, 201, added.body)
  return added.json()
}

/** Registers a user with everything that an account can have: keys, wraps, a recovery code, a verified address. */
async function registerWithKeys(handle: string) {
  const { origin, rpId } = { origin: world.config.authUrl.origin, rpId: world.config.relyingPartyId }
  const authenticator = createAuthenticator({ origin, rpId })
  const { flowId, options } = (await register(handle)).json()
  const signing = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? ''
  const encryption = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'der' })
  const registered = await send(
    'POST',
    '/api/auth/register/finish',
    {},
    {
      flowId,
      credential: authenticator.register(options),
      keyWraps: [{ kind: 'recovery_code', ciphertext: 'by.recovery.code' }],
      signingKey: { publicKey: Buffer.from(signing, 'base64url').toString('base64'), encryptedPrivateKey: 'signing' },
      encryptionKey: { publicKey: encryption.toString('base64'), encryptedPrivateKey: 'encryption' },
      recoveryAuth: randomBytes(32).toString('base64url'),
    },
  )
  assert.equal(registered.statusCode, 201, registered.body)
  const { sessionToken, user, identities } = registered.json()
  const headers = { authorization: `Bearer ${sessionToken}` }
  const identityId: IdentityId = identities[0].identityId
  const email = `${handle}@example.com`
  await send('POST', `/api/identities/${identityId}/email`, headers, { email })
  await send('POST', `/api/identities/${identityId}/email/verify`, headers, { code: codeIn(await mailbox.take()) })
  const userId: UserId = user.userId
  return { handle, email, authenticator, headers, userId, identityId }
}

test('LOG-06 deleting an identity ends its access to every app at once and reserves its handle', async () => {
  const person = await world.person()
  const { identityId, handle } = await addIdentity(person.headers)
  const app = await world.app()
  const [first, second] = [await app.tokens(person), await app.tokens({ ...person, identityId })]
  const deleted = await deleteIdentity(identityId, person.headers)
  assert.equal(deleted.statusCode, 204, deleted.body)

  assert.equal(await userinfo(second.access_token), 401)
  assert.equal(await userinfo(second.access_token_jwt), 401)
  assert.equal(await userinfo(first.access_token), 200, 'the other identity stays active')
  const found = await send('GET', `/api/identities/${identityId}`, person.headers)
  assert.deepEqual(errorOf(found), [404, 'identity_not_found'])
  assert.deepEqual(errorOf(await deleteIdentity(identityId, person.headers)), [404, 'identity_not_found'])
  const { authorizations } = (await send('GET', '/api/oauth/authorizations', person.headers)).json()
  assert.deepEqual(
    authorizations.map((each: { identityId: IdentityId }) => each.identityId),
    [person.identityId],
  )

  for (const headers of [person.headers, (await world.person()).headers]) {
    const again = await send('POST', '/api/identities', headers, { handle, displayName: 'Another' })
    assert.deepEqual(errorOf(again), [409, 'handle_taken'])
  }
  world.pass(90 * 24 * 3600)
  const taken = await addIdentity((await world.person()).headers, handle)
  assert.notEqual(taken.identityId, identityId, 'a later owner of the handle is another identity to every app')
})

test('REC-08 a later owner of a handle does not reach data that an app keeps for the deleted identity', async () => {
  const [ada, eve] = [await world.person('passed-on'), await world.person()]
  const app = await world.app()
  const { user } = await app.tokens(ada)
  assert.equal(
    (await send('PATCH', `/api/identities/${ada.identityId}`, ada.headers, { handle: 'gone-on' })).statusCode,
    200,
  )
  world.pass(90 * 24 * 3600)
  const headers = await eve.signIn()
  const changed = await send('PATCH', `/api/identities/${eve.identityId}`, headers, { handle: 'passed-on' })
  assert.equal(changed.statusCode, 200, changed.body)
  const later = await app.tokens({ ...eve, headers })
  assert.equal(later.user.handle, 'passed-on')
  assert.notEqual(later.user.id, user.id)
})

test('COD-16 a code of a deleted identity cannot be redeemed', async () => {
  const person = await world.person()
  const { identityId } = await addIdentity(person.headers)
  const app = await world.app()
  const code = await app.code({ ...person, identityId })
  await deleteIdentity(identityId, person.headers)
  assert.deepEqual(errorOf(await app.redeem(code)), [400, 'invalid_grant'])
})

test('REF-08 a refresh token of a deleted identity or account is rejected', async () => {
  const person = await world.person()
  const { identityId } = await addIdentity(person.headers)
  const app = await world.app()
  const [first, second] = [await app.tokens(person), await app.tokens({ ...person, identityId })]
  await deleteIdentity(identityId, person.headers)
  assert.deepEqual(errorOf(await app.refresh(second.refresh_token)), [400, 'invalid_grant'])
  await deleteAccount(person.headers)
  assert.deepEqual(errorOf(await app.refresh(first.refresh_token)), [400, 'invalid_grant'])
})

test('the last identity stays even when all are deleted concurrently', async () => {
  const person = await world.person()
  assert.deepEqual(errorOf(await deleteIdentity(person.identityId, person.headers)), [409, 'last_identity'])
  const others = await Promise.all(Array.from({ length: 3 }, () => addIdentity(person.headers)))
  const all = [person.identityId, ...others.map(({ identityId }) => identityId)]
  const answers = await Promise.all(all.map((identityId) => deleteIdentity(identityId, person.headers)))
  assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [204, 204, 204, 409])
  const { identities } = (await send('GET', '/api/identities', person.headers)).json()
  assert.equal(identities.length, 1)
  await addIdentity(person.headers)
})

test('deleting the identity of a suspension that has ended tells the apps of the siblings that it has', async () => {
  const person = await world.person()
  const { identityId } = await addIdentity(person.headers)
  const app = await world.app()
  await app.tokens({ ...person, identityId })
  await send('PUT', `/api/admin/apps/${app.clientId}/webhook`, world.admin, { url: 'https://app.example/hook' })
  const suspension = { reason: 'A reason', until: new Date(world.now().getTime() + 60_000).toISOString() }
  await send('POST', `/api/admin/identities/${person.identityId}/suspension`, world.admin, suspension)
  world.pass(61)
  assert.equal((await deleteIdentity(person.identityId, await person.signIn())).statusCode, 204)
  const events = await world.db.selectFrom('app_event').selectAll().where('client_id', '=', app.clientId).execute()
  const activated = events.filter(({ type }) => type === 'identity.activated').map(({ data }) => JSON.parse(data))
  assert.deepEqual(activated, [{ identityId, sequence: 3, by: 'system' }])
})

test('a consent or redemption concurrent with the deletion leaves nothing behind', async () => {
  const person = await world.person()
  const app = await world.app()
  for (let round = 0; round < 6; round += 1) {
    const { identityId } = await addIdentity(person.headers)
    const code = await app.code({ ...person, identityId })
    const [deleted, redeemed] = await Promise.all([
      deleteIdentity(identityId, person.headers),
      app.redeem(code),
      app.code({ ...person, identityId }).catch((error: unknown) => assert.match(String(error), /identity_not_found/)),
    ])
    assert.equal(deleted.statusCode, 204, deleted.body)
    if (redeemed.statusCode === 200) assert.equal(await userinfo(redeemed.json().access_token), 401)
    assert.deepEqual(await tablesWith(world.db, identityId), ['audit_event'])
  }
})

test('a user cannot delete an identity of another user', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  await addIdentity(ada.headers)
  assert.deepEqual(errorOf(await deleteIdentity(ada.identityId, eve.headers)), [404, 'identity_not_found'])
})

test('deleting an identity or the account requires recent authentication', async () => {
  const person = await world.person()
  const { identityId } = await addIdentity(person.headers)
  world.pass(301)
  for (const answer of [await deleteIdentity(identityId, person.headers), await deleteAccount(person.headers)])
    assert.deepEqual(errorOf(answer), [403, 'reauthentication_required'])
  const fresh = await person.signIn()
  assert.equal((await deleteIdentity(identityId, fresh)).statusCode, 204)
  assert.equal((await deleteAccount(fresh)).statusCode, 204)
})

test('LOG-06 deleting an account deletes every session, passkey, key, token and consent at once', async () => {
  const person = await registerWithKeys('deleted-whole')
  const app = await world.app()
  const tokens = await app.tokens(person, { scope: 'openid profile email offline_access' })
  const signInAgain = async () => {
    const { flowId, options } = (await send('POST', '/api/auth/login/start', {}, {})).json()
    const credential = person.authenticator.authenticate(options)
    return send('POST', '/api/auth/login/finish', {}, { flowId, credential })
  }
  const other = (await signInAgain()).json<{ sessionToken: string }>()
  const elsewhere = { authorization: `Bearer ${other.sessionToken}` }

  const deleted = await deleteAccount(person.headers)
  assert.equal(deleted.statusCode, 204, deleted.body)
  assert.match(String([deleted.headers['set-cookie']].flat()[0]), /^__Host-countersign=; .*Max-Age=0/)
  for (const headers of [person.headers, elsewhere])
    assert.equal((await send('GET', '/api/auth/session', headers)).statusCode, 401)
  assert.equal(await userinfo(tokens.access_token), 401)
  assert.deepEqual(errorOf(await signInAgain()), [401, 'invalid_credential'])
  assert.deepEqual(errorOf(await register('Deleted-Whole')), [409, 'handle_taken'])

  // The remaining data: audit events with IDs, the owner of the public key, and the handle without an owner.
  assert.deepEqual(await tablesWith(world.db, person.userId), ['audit_event'])
  assert.deepEqual(await tablesWith(world.db, person.identityId), ['audit_event', 'signing_key_owner'])
  assert.deepEqual(await tablesWith(world.db, person.handle), ['identity_handle'])
  for (const text of [person.email, person.authenticator.credentialId, 'by.recovery.code'])
    assert.deepEqual(await tablesWith(world.db, text), [], text)
  const trail = await world.db
    .selectFrom('audit_event')
    .select('action')
    .where('user_id', '=', person.userId)
    .orderBy('event_id')
    .execute()
  assert.equal(trail.filter(({ action }) => action === 'account.deleted').length, 1)
})

function newAppPublicKey(): string {
  const { publicKey } = generateKeyPairSync('x25519')
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

/** Connects an app with end-to-end encryption, with a new key pair whose private key the browser has encrypted. */
async function connectWithKeyPair(
  { headers, identityId }: Pick<Person, 'headers' | 'identityId'>,
  { clientId, redirectUri }: TestApp,
  scope: string,
) {
  const key = { appPublicKey: newAppPublicKey(), encryptedAppPrivateKey: 'sealed' }
  const payload = { clientId, redirectUri, identityId, scope: `openid e2ee:asymmetric ${scope}`.trim(), ...key }
  const connected = await send('POST', '/api/oauth/authorize', headers, payload)
  assert.equal(connected.statusCode, 200, connected.body)
}

test('LOG-06 deleting an identity or an app deletes or ends the keys of the identity in the app', async () => {
  const [ada, eve, app] = [await world.person(), await world.person(), await world.app({ supportsE2ee: true })]
  const { identityId } = await addIdentity(ada.headers)
  await connectWithKeyPair({ ...ada, identityId }, app, '')
  await connectWithKeyPair({ ...ada, identityId }, app, 'e2ee:reset')
  await connectWithKeyPair(eve, app, '')
  assert.equal((await deleteIdentity(identityId, ada.headers)).statusCode, 204)
  assert.deepEqual(await tablesWith(world.db, identityId), ['audit_event'])
  assert.equal((await send('DELETE', `/api/admin/apps/${app.clientId}`, world.admin)).statusCode, 204)
  assert.equal((await deleteAccount(eve.headers)).statusCode, 204)
  assert.deepEqual(await tablesWith(world.db, eve.identityId), ['audit_event'])
})

test('OWN-05 deleting an account deletes its registered apps only when the user requests it', async () => {
  const [ada, eve] = [await world.person(), await world.person()]
  const register = (name: string) =>
    send('POST', '/api/developer/apps', ada.headers, { name, redirectUris: ['https://ledger.example/callback'] })
  const [one, other] = [(await register('Ledger')).json(), (await register('Cash book')).json()]
  const isKnown = async (clientId: ClientId) => (await send('GET', `/api/oauth/app/${clientId}`, {})).statusCode === 200

  const refused = await deleteAccount(ada.headers)
  assert.deepEqual(errorOf(refused), [409, 'owns_apps'])
  assert.deepEqual(refused.json().apps.toSorted(), ['Cash book', 'Ledger'])
  assert.equal((await send('DELETE', '/api/account?apps=keep', ada.headers)).statusCode, 400)
  assert.equal((await send('GET', '/api/auth/session', ada.headers)).statusCode, 200, 'nothing is deleted')
  assert.ok((await isKnown(one.clientId)) && (await isKnown(other.clientId)))
  assert.equal((await deleteAccount(eve.headers)).statusCode, 204, 'an account without apps needs no parameter')

  assert.equal((await send('DELETE', '/api/account?apps=delete', ada.headers)).statusCode, 204)
  assert.ok(!(await isKnown(one.clientId)) && !(await isKnown(other.clientId)))
  assert.deepEqual(await tablesWith(world.db, ada.userId), ['audit_event'])
  const until = 'its ID, until its users are disconnected'
  assert.deepEqual(await tablesWith(world.db, one.clientId), ['app_ending', 'audit_event'], until)
  const trail = await world.db
    .selectFrom('audit_event')
    .select(['action', 'client_id as clientId'])
    .where('user_id', '=', ada.userId)
    .where('action', 'in', ['app.deleted', 'account.deleted'])
    .execute()
  assert.deepEqual(trail.map(({ action, clientId }) => `${action} ${clientId}`).toSorted(), [
    'account.deleted null',
    ...[one.clientId, other.clientId].map((clientId) => `app.deleted ${clientId}`).toSorted(),
  ])
})

test('concurrent deletions delete an account once and no concurrent change survives', async () => {
  const person = await world.person()
  const answers = await Promise.all([
    deleteAccount(person.headers),
    deleteAccount(person.headers),
    person.signIn().catch((error: unknown) => assert.match(String(error), /invalid_credential|has been deleted/)),
    send('POST', '/api/identities', person.headers, { handle: 'just-added', displayName: 'Added' }),
    send('PUT', '/api/account/recovery', person.headers, {
      recoveryAuth: randomBytes(32).toString('base64url'),
      ciphertext: 'sealed',
    }),
  ])
  assert.equal(answers[0]?.statusCode === 204 || answers[1].statusCode === 204, true)
  assert.deepEqual(await tablesWith(world.db, person.userId), ['audit_event'])
})

test('requests concurrent with the deletion of their account succeed or are rejected', async () => {
  const identity = { handle: '', displayName: 'Late' }
  for (let round = 0; round < 12; round += 1) {
    const { headers, identityId } = await world.person()
    const others = Array.from({ length: 6 }, (_, turn) => [
      send('POST', '/api/auth/passkeys/start', headers, {}),
      send('POST', '/api/identities', headers, { ...identity, handle: `late-${round}-${turn}` }),
      send('PATCH', `/api/identities/${identityId}`, headers, { displayName: 'Late' }),
      send('GET', '/api/account/export', headers),
      send('GET', '/api/auth/session', headers),
      send('DELETE', '/api/auth/sessions', headers),
    ])
    const [deleted, ...answers] = await Promise.all([deleteAccount(headers), ...others.flat()])
    assert.equal(deleted.statusCode, 204, deleted.body)
    for (const { statusCode, body } of answers) assert.ok(statusCode < 500, body)
  }
})

test('deleting an identity deletes its signing requests, and its key is never accepted again', async () => {
  const ada = await createSigner(world)
  const kept = await addIdentity(ada.headers)
  const shop = signingRequesterOf(world, await world.app())
  const [signed, pending] = [await shop.request(ada.identityId), await shop.request(ada.identityId)].map(
    (opened): string => opened.json().requestId,
  )
  assert.ok(signed && pending)
  await ada.sign(signed, ada.pair.sign('Pay 10 €'))
  const rotation = rotationOf(ada.identityId, ada.pair, newSigningPair())
  await ada.rotate(rotation)
  const last = (await shop.request(ada.identityId)).json().requestId

  assert.equal((await deleteIdentity(ada.identityId, ada.headers)).statusCode, 204)
  assert.equal((await shop.status(last)).json().status, 'pending', 'the app learns nothing before the request expires')
  for (const requestId of [signed, pending]) assert.equal((await shop.status(requestId)).statusCode, 404)
  for (const requestId of [signed, pending, last]) {
    assert.deepEqual(errorOf(await ada.readRequest(requestId)), [404, 'request_not_found'])
    assert.deepEqual(errorOf(await ada.sign(requestId, ada.pair.sign('Pay 10 €'))), [404, 'request_not_found'])
    assert.deepEqual(errorOf(await ada.deny(requestId)), [404, 'request_not_found'])
  }
  assert.deepEqual((await ada.listRequests()).json(), { requests: [] })
  assert.deepEqual(errorOf(await shop.request(ada.identityId)), [404, 'identity_not_found'])
  assert.deepEqual(errorOf(await send('GET', `/api/signing/public-key/${ada.handle}`, {})), [404, 'identity_not_found'])
  assert.deepEqual(
    [await tablesWith(world.db, signed), await tablesWith(world.db, last)],
    [['audit_event'], ['signing_former_request']],
  )
  for (const publicKey of [ada.pair.publicKey, rotation.publicKey]) {
    const key = { publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
    const again = await send('POST', `/api/signing/keys/${kept.identityId}`, ada.headers, key)
    assert.deepEqual(errorOf(again), [409, 'key_in_use'])
  }
})

test('deleting an account concurrently with signing requests and answers leaves no request behind', async () => {
  const shop = signingRequesterOf(world, await world.app())
  for (let round = 0; round < 5; round += 1) {
    const ada = await createSigner(world)
    const { requestId } = (await shop.request(ada.identityId)).json()
    const answers = await Promise.all([
      shop.request(ada.identityId),
      ada.sign(requestId, ada.pair.sign('Pay 10 €')),
      ada.rotate(rotationOf(ada.identityId, ada.pair, newSigningPair())),
      deleteAccount(ada.headers),
      shop.request(ada.identityId),
      shop.status(requestId),
    ])
    for (const { statusCode, body } of answers) assert.ok(statusCode < 500, body)
    // A pending request stays pending for its app until it expires. Requests that were answered or ended with the key
    // are deleted.
    const left = await shop.status(requestId)
    assert.ok(left.statusCode === 404 || left.json().status === 'pending', left.body)
    assert.deepEqual(errorOf(await ada.readRequest(requestId)), [401, 'unauthorized'])
    assert.deepEqual(errorOf(await shop.request(ada.identityId)), [404, 'identity_not_found'])
  }
})
