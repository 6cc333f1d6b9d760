import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeJwt } from 'jose'
import { createWorld, newChallenge, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

const consent = (person: Pick<Person, 'headers' | 'identityId'>, app: TestApp, requested: object = {}) => {
  const { clientId, redirectUri } = app
  const payload = { clientId, redirectUri, identityId: person.identityId, scope: 'openid', ...requested }
  return world.api.inject({ method: 'POST', url: '/api/oauth/authorize', headers: person.headers, payload })
}
const errorOf = (answer: { statusCode: number; json: () => { error?: string } }) => [
  answer.statusCode,
  answer.json().error,
]
const authorizationsOf = async ({ headers }: Person) =>
  (await world.api.inject({ url: '/api/oauth/authorizations', headers })).json().authorizations
const codeIn = (answer: Awaited<ReturnType<typeof consent>>) =>
  new URL(answer.json().redirectUrl).searchParams.get('code') ?? ''

test('AUZ-10 a consent to a scope that the app is not allowed records nothing', async () => {
  const [person, app] = [await world.person(), await world.app({ allowedScopes: ['openid', 'profile'] })]
  const wrong = [
    'openid email',
    'openid admin',
    'offline_access',
    'openid OPENID',
    'openid,profile',
    'openid\u00a0profile',
  ]
  for (const scope of wrong)
    assert.deepEqual(errorOf(await consent(person, app, { scope })), [400, 'invalid_scope'], scope)
  assert.deepEqual(await authorizationsOf(person), [])

  await app.code(person, { scope: 'openid' })
  const [before] = await authorizationsOf(person)
  for (const scope of wrong) assert.equal((await consent(person, app, { scope })).statusCode, 400)
  assert.deepEqual(await authorizationsOf(person), [before], 'earlier grants stay unchanged')
})

test('AUZ-02 a consent with the identity of another user is recorded for neither user', async () => {
  const [person, victim, app] = [await world.person(), await world.person(), await world.app()]
  const answer = await consent({ ...person, identityId: victim.identityId }, app)
  assert.deepEqual([...errorOf(answer), answer.json().redirectUrl], [404, 'identity_not_found', undefined])
  for (const each of [person, victim]) assert.deepEqual(await authorizationsOf(each), [])
})

test('AUZ-11 a public app gets no code without an S256 challenge of 43 base64url characters', async () => {
  const [person, open, confidential] = [await world.person(), await world.app({ public: true }), await world.app()]
  const { challenge, verifier } = newChallenge()
  const wrong = [
    { codeChallenge: verifier, codeChallengeMethod: 'plain' },
    { codeChallenge: challenge, codeChallengeMethod: 's256' },
    { codeChallenge: challenge, codeChallengeMethod: 'S512' },
    { codeChallenge: challenge.slice(1) },
    { codeChallenge: `${challenge}A` },
    { codeChallenge: `${challenge.slice(1)}=` },
    { codeChallenge: `${challenge.slice(1)}+` },
    { codeChallenge: `${challenge.slice(1)}/` },
    { codeChallenge: `${challenge.slice(1)} ` },
    { codeChallenge: [challenge] },
  ]
  for (const app of [open, confidential])
    for (const requested of wrong)
      assert.deepEqual(
        errorOf(await consent(person, app, requested)),
        [400, 'invalid_request'],
        JSON.stringify(requested),
      )
  for (const requested of [{}, { codeChallengeMethod: 'S256' }, { codeChallenge: '' }, { codeChallenge: null }])
    assert.deepEqual(
      errorOf(await consent(person, open, requested)),
      [400, 'invalid_request'],
      JSON.stringify(requested),
    )
  assert.deepEqual(await authorizationsOf(person), [])
  const right = await consent(person, open, { codeChallenge: challenge, codeChallengeMethod: 'S256' })
  assert.equal((await open.redeem(codeIn(right), { code_verifier: verifier })).statusCode, 200)
})

test('AUZ-17 a long nonce and an emoji are returned unchanged; a state of 20 kB is too, or is rejected', async () => {
  const [person, app] = [await world.person(), await world.app()]
  for (const nonce of ['n'.repeat(384), '😀🇩🇪👩‍👧', 'ü'.repeat(384)]) {
    const tokens = (await app.redeem(await app.code(person, { nonce }))).json()
    assert.equal(decodeJwt(tokens.id_token)['nonce'], nonce)
  }
  for (const state of ['s'.repeat(20_000), '😀'.repeat(5000), 's'.repeat(8192), '😀'.repeat(2048)]) {
    const answer = await consent(person, app, { state })
    if (answer.statusCode === 200)
      assert.equal(new URL(answer.json().redirectUrl).searchParams.get('state'), state, `${state.length}`)
    else assert.deepEqual(errorOf(answer), [400, 'invalid_request'], `${state.length}`)
  }
})

test('AUZ-01 an expired session cannot consent', async () => {
  const [person, app] = [await world.person(), await world.app()]
  world.pass(30 * 24 * 3600)
  const answer = await consent(person, app)
  assert.deepEqual([...errorOf(answer), answer.json().redirectUrl], [401, 'unauthorized', undefined])
  const headers = await person.signIn()
  assert.deepEqual(await authorizationsOf({ ...person, headers }), [])
})
