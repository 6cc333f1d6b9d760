import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createConnectors } from '#testing/connectors.ts'
import { createWorld, newChallenge, postForm, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const revoke = (fields: Record<string, string>, headers: Record<string, string> = {}) =>
  postForm(world.api, '/api/oauth/revoke', fields, headers)

async function signedIn() {
  const person = await world.person()
  const app = await world.app()
  return { person, app, tokens: await app.tokens(person) }
}

const works = async (accessToken: string) => {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await world.api.inject({ url: '/api/oauth/userinfo', headers })).statusCode === 200
}

/** Lists the revocations in the audit log of an identity, newest first. */
async function revocations(identityId: string) {
  const { entries } = (await world.api.inject({ url: '/api/admin/audit', headers: world.admin })).json()
  type Entry = { action: string; identityId: string; actor: string; clientId: string; details: { token?: string } }
  return entries.filter((entry: Entry) => entry.action === 'token_family.revoked' && entry.identityId === identityId)
}

test('revoking a refresh token revokes its whole token family, and no other sign-in', async () => {
  const { person, app, tokens } = await signedIn()
  const elsewhere = await app.tokens(person)
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  const answer = await revoke({ ...app.credentials, token: rotated.refresh_token, token_type_hint: 'access_token' })
  assert.equal(answer.statusCode, 200)
  assert.equal(answer.headers['cache-control'], 'no-store')

  for (const dead of [tokens.access_token, tokens.access_token_jwt, rotated.access_token, rotated.access_token_jwt])
    assert.equal(await works(dead), false)
  assert.equal((await app.refresh(rotated.refresh_token)).json().error, 'invalid_grant')
  assert.equal((await app.refresh(elsewhere.refresh_token)).statusCode, 200)
})

test('revoking a rotated refresh token still revokes its token family', async () => {
  const { app, tokens } = await signedIn()
  const second = (await app.refresh(tokens.refresh_token)).json()
  const third = (await app.refresh(second.refresh_token)).json()
  assert.equal((await revoke({ ...app.credentials, token: tokens.refresh_token })).statusCode, 200)
  assert.equal((await app.refresh(third.refresh_token)).json().error, 'invalid_grant')
})

for (const form of ['access_token', 'access_token_jwt'] as const)
  test(`revoking either form of an access token revokes both forms only (${form})`, async () => {
    const { app, tokens } = await signedIn()
    const other = (await app.refresh(tokens.refresh_token)).json()
    assert.equal((await revoke({ ...app.credentials, token: tokens[form] })).statusCode, 200)
    assert.deepEqual([await works(tokens.access_token), await works(tokens.access_token_jwt)], [false, false])
    assert.equal(await works(other.access_token), true)
    assert.equal((await app.refresh(other.refresh_token)).statusCode, 200)
  })

test('GRW-23 an app that refreshes and revokes repeatedly adds one audit event an hour for the user', async () => {
  const { person, app, tokens } = await signedIn()
  let { access_token: token, refresh_token: refreshToken } = tokens
  const revokeAndRefresh = async () => {
    assert.equal((await revoke({ ...app.credentials, token })).statusCode, 200)
    assert.equal(await works(token), false)
    const renewed = (await app.refresh(refreshToken)).json()
    token = renewed.access_token
    refreshToken = renewed.refresh_token
  }
  for (let nth = 0; nth < 5; nth += 1) await revokeAndRefresh()
  assert.equal((await revocations(person.identityId)).length, 1)
  const elsewhere = await app.tokens(person)
  await revoke({ ...app.credentials, token: elsewhere.access_token })
  assert.equal((await revocations(person.identityId)).length, 2, 'another sign-in has its own event')

  world.pass(3600)
  await revokeAndRefresh()
  for (let nth = 0; nth < 3; nth += 1) await revokeAndRefresh()
  assert.equal((await revocations(person.identityId)).length, 3)
  assert.equal((await revoke({ ...app.credentials, token: refreshToken })).statusCode, 200)
  const [last] = await revocations(person.identityId)
  assert.deepEqual([last.details.token, (await revocations(person.identityId)).length], ['refresh_token', 4])
})

test("a token that is not the app's gets the same answer and stays valid", async () => {
  const { app, tokens } = await signedIn()
  const thief = await world.app()
  const { access_token, access_token_jwt, refresh_token, id_token = '' } = tokens
  for (const token of [access_token, access_token_jwt, refresh_token]) {
    const answer = await revoke({ ...thief.credentials, token })
    assert.equal(answer.statusCode, 200)
    assert.equal(answer.body, '{}')
  }
  for (const token of [id_token, 'nonsense', `${refresh_token}A`, access_token.slice(0, -1), 'a.b.c'])
    assert.equal((await revoke({ ...app.credentials, token })).body, '{}')
  assert.equal(await works(access_token), true)
  assert.equal((await app.refresh(refresh_token)).statusCode, 200)
})

test('the client authenticates as at the token endpoint, a public one by its client ID', async () => {
  const { app, tokens } = await signedIn()
  const { refresh_token: token } = tokens
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${app.clientId}:${secret}`).toString('base64')}`,
  })
  const refused = [
    await revoke({ token, client_id: app.clientId }),
    await revoke({ token, client_id: app.clientId, client_secret: 'cs_wrong' }),
    await revoke({ token }, basic('cs_wrong')),
    await revoke({ token, client_id: 'app_unknown' }),
  ]
  for (const answer of refused) assert.deepEqual([answer.statusCode, answer.json().error], [401, 'invalid_client'])
  assert.equal(refused[2]?.headers['www-authenticate'], 'Basic realm="countersign"')
  for (const fields of [{ ...app.credentials }, { token }, { ...app.credentials, token: '' }])
    assert.equal((await revoke(fields)).json().error, 'invalid_request')
  assert.equal(await works(tokens.access_token), true)

  assert.equal((await revoke({ token }, basic(app.clientSecret))).statusCode, 200)
  assert.equal(await works(tokens.access_token), false)

  const open = await world.app({ public: true })
  const { verifier, challenge } = newChallenge()
  const code = await open.code(await world.person(), { codeChallenge: challenge })
  const given = (await open.redeem(code, { code_verifier: verifier })).json()
  assert.equal(await works(given.access_token), true)
  await revoke({ client_id: open.clientId, token: given.refresh_token })
  assert.equal(await works(given.access_token), false)
})

test('each revocation that ended a token is in the audit log, once', async () => {
  const { person, app, tokens } = await signedIn()
  const rotated = (await app.refresh(tokens.refresh_token)).json()
  for (const token of [tokens.access_token, tokens.access_token_jwt, tokens.refresh_token, rotated.refresh_token])
    await revoke({ ...app.credentials, token })
  const found = await revocations(person.identityId)
  assert.deepEqual(
    found.map(({ actor, clientId, details }: { actor: { kind: string }; clientId: string; details: object }) => [
      actor.kind,
      clientId,
      details,
    ]),
    [
      ['app', app.clientId, { token: 'refresh_token' }],
      ['app', app.clientId, { token: 'access_token' }],
    ],
  )
})

test('of concurrent revocations one is recorded, and no refreshed token stays valid', async () => {
  const { person, app, tokens } = await signedIn()
  const [refreshed] = await Promise.all([
    app.refresh(tokens.refresh_token),
    ...Array.from({ length: 8 }, () => revoke({ ...app.credentials, token: tokens.refresh_token })),
  ])
  assert.equal((await revocations(person.identityId)).length, 1)
  if (refreshed.statusCode === 200) {
    assert.equal(await works(refreshed.json().access_token), false)
    assert.equal((await app.refresh(refreshed.json().refresh_token)).json().error, 'invalid_grant')
  }
})

test('a page of a registered origin may revoke, a page of another origin cannot read the answer', async () => {
  const app = await world.app({ public: true })
  const from = async (origin: string) => {
    const { headers } = await revoke({ client_id: app.clientId, token: 'nonsense' }, { origin })
    return [headers['access-control-allow-origin'], headers['access-control-allow-credentials']]
  }
  assert.deepEqual(await from('https://app.example'), ['https://app.example', undefined])
  assert.deepEqual(await from('https://evil.example'), [undefined, undefined])
})

test('only the user can revoke a delegated token, and the app that holds it gets an error', async () => {
  const notes = await createConnectors(world)
  const { access_token: token } = await notes.delegated((await notes.connected()).subjectToken)
  const answer = await revoke({ ...notes.source.credentials, token })
  assert.deepEqual([answer.statusCode, answer.json().error], [400, 'unsupported_token_type'])
  assert.equal((await revoke({ ...notes.target.credentials, token })).statusCode, 200)
  assert.equal((await notes.introspect(notes.target, token)).json().active, true)
})
