import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { after, before, test } from 'node:test'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
})
after(() => world.close())

test("a user signs an app's request, and the app verifies the signature offline", async () => {
  const ada = await createSigner(world)
  const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'
  const opened = await shop.request(ada.identityId, { payload, metadata: { order: 7 } })
  assert.equal(opened.statusCode, 201, opened.body)
  const { requestId, expiresAt, publicKey } = opened.json()
  assert.equal(publicKey, ada.pair.publicKey)
  assert.equal(Date.parse(expiresAt), world.now().getTime() + 300_000)
  assert.deepEqual((await shop.status(requestId)).json(), { requestId, status: 'pending', publicKey, expiresAt })

  const [waiting, ...others] = (await ada.listRequests()).json().requests
  assert.deepEqual(others, [])
  assert.equal(waiting.payload, payload)
  assert.equal(waiting.app.name, 'Shop')
  assert.deepEqual(waiting.app.origins, ['https://app.example'])
  assert.equal(waiting.connected, false)
  assert.equal(waiting.metadata, undefined)

  const signature = ada.pair.sign(payload)
  const signed = await ada.sign(requestId, signature)
  const resolvedAt = world.now().toISOString()
  assert.deepEqual(signed.json(), { requestId, status: 'signed', signature, publicKey, resolvedAt })
  const status = (await shop.status(requestId)).json()
  assert.deepEqual(status, { requestId, status: 'signed', publicKey, expiresAt, signature, resolvedAt })
  const x = Buffer.from(publicKey, 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  assert.ok(verify(null, Buffer.from(payload), key, Buffer.from(status.signature, 'base64')))
  assert.deepEqual((await ada.listRequests()).json().requests, [])
})

test('SIG-08 of a concurrent signature and denial, exactly one counts', async () => {
  const ada = await createSigner(world)
  for (let round = 0; round < 10; round += 1) {
    const { requestId } = (await shop.request(ada.identityId)).json()
    const signature = ada.pair.sign('Pay 10 €')
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) => (index % 2 ? ada.deny(requestId) : ada.sign(requestId, signature))),
    )
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, ...Array<number>(15).fill(409)])
    const { status } = (await shop.status(requestId)).json()
    for (const refused of answers.filter(({ statusCode }) => statusCode === 409)) {
      assert.equal(refused.json().error, 'request_not_pending')
      assert.equal(refused.json().status, status)
    }
    const acts = await world.db
      .selectFrom('audit_event')
      .select('action')
      .where('identity_id', '=', ada.identityId)
      .where('action', 'in', ['signing.signed', 'signing.denied'])
      .execute()
    assert.equal(acts.length, round + 1, 'one entry in the audit log')
  }
})

test('SIG-09 a request can be signed until the second of its expiry, and never once read as expired', async () => {
  const ada = await createSigner(world)
  const early = (await shop.request(ada.identityId, { expiresInSeconds: 60 })).json()
  world.pass(59)
  assert.equal((await ada.sign(early.requestId, ada.pair.sign('Pay 10 €'))).statusCode, 200)

  const late = (await shop.request(ada.identityId, { expiresInSeconds: 60 })).json()
  world.pass(60)
  assert.equal((await shop.status(late.requestId)).json().status, 'expired')
  world.pass(-30)
  const refused = await ada.sign(late.requestId, ada.pair.sign('Pay 10 €'))
  assert.equal(refused.statusCode, 409)
  assert.equal(refused.json().status, 'expired')
  world.pass(30)
})

test('SIG-22 a rotation expires requests pending for the old key, and the new key answers later ones', async () => {
  const ada = await createSigner(world)
  const before = (await shop.request(ada.identityId)).json()
  const next = newSigningPair()
  const rotated = await ada.rotate(rotationOf(ada.identityId, ada.pair, next))
  assert.equal(rotated.statusCode, 200, rotated.body)
  assert.equal(rotated.json().keyVersion, 2)
  assert.equal((await shop.status(before.requestId)).json().status, 'expired')
  const refused = await ada.sign(before.requestId, ada.pair.sign('Pay 10 €'))
  assert.equal(refused.json().error, 'request_not_pending')

  const { requestId, publicKey } = (await shop.request(ada.identityId)).json()
  assert.equal(publicKey, next.publicKey)
  assert.equal((await ada.sign(requestId, ada.pair.sign('Pay 10 €'))).json().error, 'invalid_signature')
  assert.equal((await ada.sign(requestId, next.sign('Pay 10 €'))).statusCode, 200)
})

test('a waiting caller gets the answer at once and blocks no other request', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  const waiting = shop.status(requestId, '&wait=30')
  await shop.status(requestId)
  await ada.deny(requestId)
  assert.equal((await waiting).json().status, 'denied')
})

test('SIG-24 an unconnected app has three pending requests, a connected one twenty', async () => {
  const ada = await createSigner(world)
  const burst = await Promise.all(Array.from({ length: 8 }, () => shop.request(ada.identityId)))
  assert.equal(burst.filter(({ statusCode }) => statusCode === 201).length, 3)
  assert.equal(burst.find(({ statusCode }) => statusCode !== 201)?.json().error, 'too_many_pending')
  world.pass(100)
  assert.equal((await shop.request(ada.identityId)).headers['retry-after'], '200', 'until the first of them expires')

  const app = await world.app()
  await app.tokens(ada)
  const known = signingRequesterOf(world, app)
  const more = await Promise.all(Array.from({ length: 24 }, () => known.request(ada.identityId)))
  assert.equal(more.filter(({ statusCode }) => statusCode === 201).length, 20)
  world.pass(200)
  assert.equal((await shop.request(ada.identityId)).statusCode, 201)
})

test('SIG-07 SIG-15 a request is not found by other users, and another app gets no details', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const { requestId } = (await shop.request(ada.identityId)).json()
  for (const answer of [
    await bob.readRequest(requestId),
    await bob.sign(requestId, bob.pair.sign('Pay 10 €')),
    await bob.deny(requestId),
  ]) {
    assert.equal(answer.statusCode, 404)
    assert.equal(answer.json().error, 'request_not_found')
  }
  const stranger = signingRequesterOf(world, await world.app())
  assert.equal((await stranger.status(requestId)).json().error, 'access_denied')
  assert.equal((await stranger.status(crypto.randomUUID())).json().error, 'request_not_found')
  assert.equal((await ada.readRequest(requestId)).json().status, 'pending')
})
