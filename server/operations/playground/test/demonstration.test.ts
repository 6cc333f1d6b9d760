import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const ask = (fields: object, { api }: TestWorld = world) =>
  api.inject({ method: 'POST', url: '/api/signing/demo/request', payload: { payload: 'Pay 10 €', ...fields } })
const statusOf = async (requestId: string) =>
  (await world.api.inject({ url: `/api/signing/request/${requestId}/status?clientId=app_playground` })).json()

test('SIG-25 a demonstration is marked as one, belongs to the playground, and is signed like any request', async () => {
  const ada = await createSigner(world, 'Ada-Tries')
  for (const fields of [{ handle: 'ada-tries' }, { identityId: ada.identityId, metadata: { a: 1 } }]) {
    const requested = await ask({ ...fields, expiresInSeconds: 60 })
    assert.equal(requested.statusCode, 201, requested.body)
    const { requestId, publicKey, expiresAt } = requested.json()
    assert.deepEqual([publicKey, Date.parse(expiresAt)], [ada.pair.publicKey, world.now().getTime() + 60_000])
    const seen = (await ada.readRequest(requestId)).json()
    assert.deepEqual(
      [seen.demonstration, seen.app.clientId, seen.app.name, seen.payload],
      [true, 'app_playground', 'Playground', 'Pay 10 €'],
    )
    const signature = ada.pair.sign('Pay 10 €')
    assert.equal((await ada.sign(requestId, signature)).statusCode, 200)
    assert.equal((await statusOf(requestId)).signature, signature)
  }
})

test('SIG-25 a demonstration requires one existing identity with a key, and a text of at most 1,000', async () => {
  const [ada, keyless] = [await createSigner(world), await world.person()]
  const { handle, identityId } = ada
  const malformed = [{}, { handle, identityId }, { handle: '' }, { handle: null }]
  for (const fields of malformed) assert.deepEqual(errorOf(await ask(fields)), [400, 'invalid_request'])
  for (const payload of ['', 'a'.repeat(1001), 7])
    assert.deepEqual(errorOf(await ask({ handle, payload })), [400, 'invalid_request'])
  assert.deepEqual(errorOf(await ask({ handle: 'nobody-here' })), [404, 'identity_not_found'])
  for (const unknown of [crypto.randomUUID(), 'x'])
    assert.deepEqual(errorOf(await ask({ identityId: unknown })), [404, 'identity_not_found'])
  assert.deepEqual(errorOf(await ask({ handle: keyless.handle })), [422, 'no_signing_key'])
  assert.equal((await ask({ handle, payload: '👩'.repeat(1000) })).statusCode, 201)
})

test('SIG-25 at most three demonstrations are pending per user, also if sent concurrently', async () => {
  const ada = await createSigner(world)
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask({ handle: ada.handle })))
  assert.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 3)
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201))
    assert.deepEqual(errorOf(answer), [429, 'too_many_pending'])
  // Connecting the playground does not raise the limit.
  const tokens = await world.api.inject({
    method: 'POST',
    url: '/api/oauth/authorize',
    headers: ada.headers,
    payload: {
      clientId: 'app_playground',
      redirectUri: 'http://localhost:4401/playground',
      identityId: ada.identityId,
      scope: 'openid',
      codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      codeChallengeMethod: 'S256',
    },
  })
  assert.equal(tokens.statusCode, 200, tokens.body)
  assert.deepEqual(errorOf(await ask({ handle: ada.handle })), [429, 'too_many_pending'])
})

test('SIG-25 without DEMO there is no demonstration endpoint and no documentation of it', async () => {
  const earnest = await createWorld({ environment: { DEMO: 'off' } })
  try {
    const ada = await createSigner(earnest)
    for (const fields of [{ handle: ada.handle }, {}, { handle: 'nobody-here' }])
      assert.deepEqual(errorOf(await ask(fields, earnest)), [404, 'not_found'])
    const paths = async ({ api }: TestWorld) => Object.keys((await api.inject({ url: '/openapi.json' })).json().paths)
    assert.ok(!(await paths(earnest)).includes('/api/signing/demo/request'))
    assert.ok((await paths(world)).includes('/api/signing/demo/request'))
  } finally {
    await earnest.close()
  }
})
