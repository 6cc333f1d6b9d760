import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { setReadOnly } from '#testing/read-only.ts'
import { signingRequesterOf, createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const payload = 'Pay 10 €'

const changeApp = (clientId: string, status: 'active' | 'disabled') =>
  world.api.inject({
    method: 'PATCH',
    url: `/api/admin/apps/${clientId}`,
    headers: world.admin,
    payload: { status },
  })
const deleteApp = (clientId: string) =>
  world.api.inject({ method: 'DELETE', url: `/api/admin/apps/${clientId}`, headers: world.admin })

type Signer = Awaited<ReturnType<typeof createSigner>>
const endings: Record<string, (ada: Signer, requestId: string) => unknown> = {
  signed: (ada, requestId) => ada.sign(requestId, ada.pair.sign(payload)),
  denied: (ada, requestId) => ada.deny(requestId),
  expired: () => world.pass(300),
}
for (const [status, end] of Object.entries(endings))
  test(`SIG-06 a request that is ${status} stays so after any further action`, async () => {
    const ada = await createSigner(world)
    const { requestId } = (await shop.request(ada.identityId)).json()
    await end(ada, requestId)
    const before = (await shop.status(requestId)).json()
    assert.equal(before.status, status)
    world.pass(1)
    for (const answer of [
      await ada.sign(requestId, ada.pair.sign(payload)),
      await ada.sign(requestId, ada.pair.sign('something else')),
      await ada.deny(requestId),
    ]) {
      assert.deepEqual(errorOf(answer), [409, 'request_not_pending'])
      assert.equal(answer.json().status, status)
    }
    assert.deepEqual((await shop.status(requestId)).json(), before)
    const seen = (await ada.readRequest(requestId)).json()
    assert.deepEqual([seen.status, seen.signature, seen.resolvedAt], [status, before.signature, before.resolvedAt])
  })

test('SIG-07 an app token or a revoked session cannot read, sign or deny', async () => {
  const ada = await createSigner(world)
  const app = await world.app()
  const { access_token } = await app.tokens(ada)
  const { requestId } = (await signingRequesterOf(world, app).request(ada.identityId)).json()
  const ended = await ada.signIn()
  await world.api.inject({ method: 'DELETE', url: '/api/auth/session', headers: ended })
  const url = `/api/signing/requests/${requestId}`
  for (const headers of [{ authorization: `Bearer ${access_token}` }, ended, {}])
    for (const answer of [
      await world.api.inject({ url: '/api/signing/requests', headers }),
      await world.api.inject({ url, headers }),
      await world.api.inject({
        method: 'POST',
        url: `${url}/sign`,
        headers,
        payload: { signature: ada.pair.sign(payload) },
      }),
      await world.api.inject({ method: 'POST', url: `${url}/deny`, headers }),
    ])
      assert.deepEqual(errorOf(answer), [401, 'unauthorized'])
  assert.equal((await ada.readRequest(requestId)).json().status, 'pending')
})

test('SIG-10 a signature of another text, or by another key, is rejected, and the request stays pending', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const { requestId } = (await shop.request(ada.identityId)).json()
  const other = (await shop.request(ada.identityId, { payload: 'Pay 10 000 €' })).json()
  const wrong = [
    ada.pair.sign('Pay 10 000 €'),
    ada.pair.sign(`${payload} `),
    ada.pair.sign(''),
    ada.pair.sign(Buffer.from(payload).toString('hex')),
    ada.pair.sign(requestId),
    bob.pair.sign(payload),
    newSigningPair().sign(payload),
    Buffer.alloc(64).toString('base64'),
    Buffer.alloc(64, 0xff).toString('base64'),
  ]
  for (const signature of wrong)
    assert.deepEqual(errorOf(await ada.sign(requestId, signature)), [400, 'invalid_signature'])
  for (const id of [requestId, other.requestId]) assert.equal((await shop.status(id)).json().status, 'pending')
  assert.equal((await ada.sign(requestId, ada.pair.sign(payload))).statusCode, 200)
  assert.equal((await ada.sign(other.requestId, ada.pair.sign('Pay 10 000 €'))).statusCode, 200)
})

/** The order of the group of Ed25519 (RFC 8032 §5.1). */
const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n

/** Returns the same signature with S + L for S, which a careless verifier would accept too. */
function malleated(signature: Buffer): Buffer {
  const s = BigInt(`0x${reversed(signature.subarray(32)).toString('hex')}`) + groupOrder
  return Buffer.concat([signature.subarray(0, 32), reversed(Buffer.from(s.toString(16).padStart(64, '0'), 'hex'))])
}

function reversed(bytes: Buffer): Buffer {
  return Buffer.from([...bytes].toReversed())
}

test('SIG-11 a signature has one encoding', async () => {
  const ada = await createSigner(world)
  // A text whose signature differs in the base64url alphabet.
  const text = Array.from({ length: 100 }, (_, n) => `Pay ${n} €`).find((each) => /[+/]/.test(ada.pair.sign(each)))
  const { requestId } = (await shop.request(ada.identityId, { payload: text })).json()
  const right = ada.pair.sign(text ?? '')
  const bytes = Buffer.from(right, 'base64')
  const last = right.at(-3) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
  const wrong = [
    bytes.subarray(0, 63).toString('base64'),
    Buffer.concat([bytes, Buffer.alloc(1)]).toString('base64'),
    bytes.toString('base64url'),
    `${bytes.toString('base64url')}==`,
    right.replace(/=+$/, ''),
    `${right}=`,
    `${right}\n`,
    ` ${right}`,
    `${right.slice(0, 40)} ${right.slice(40)}`,
    `${right.slice(0, 40)}\r\n${right.slice(40)}`,
    // The four unused bits of the last character.
    `${right.slice(0, -3)}${alphabet[alphabet.indexOf(last) + 1]}==`,
    bytes.toString('hex'),
    malleated(bytes).toString('base64'),
    'a'.repeat(200),
  ]
  for (const signature of wrong)
    assert.deepEqual(errorOf(await ada.sign(requestId, signature)), [400, 'invalid_signature'], signature)
  for (const signature of ['a'.repeat(201), '', null, 7, [right]])
    assert.deepEqual(errorOf(await ada.sign(requestId, signature as string)), [400, 'invalid_request'])
  assert.equal((await ada.sign(requestId, right)).json().signature, right)
})

test('OID-09 a request contains signature and resolution time only once it has them', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  const [listed] = (await ada.listRequests()).json().requests
  for (const pending of [listed, (await ada.readRequest(requestId)).json()]) {
    assert.equal(pending.status, 'pending')
    assert.deepEqual(
      ['signature', 'resolvedAt'].filter((field) => field in pending),
      [],
    )
  }
  await ada.deny(requestId)
  const denied = (await ada.readRequest(requestId)).json()
  assert.deepEqual(['signature' in denied, 'resolvedAt' in denied], [false, true])
})

test('SIG-16 an expired request is always shown as expired, also on a read-only database', async (t) => {
  const ada = await createSigner(world)
  const { requestId, publicKey, expiresAt } = (await shop.request(ada.identityId)).json()
  const pending = (await shop.request(ada.identityId, { expiresInSeconds: 3600 })).json()
  world.pass(300)
  // Records that the session is in use.
  await ada.listRequests()
  const expired = { requestId, status: 'expired', publicKey, expiresAt }
  t.after(() => setReadOnly(world, false))
  await setReadOnly(world, true)
  for (let read = 0; read < 3; read += 1) {
    assert.deepEqual((await shop.status(requestId)).json(), expired)
    const seen = (await ada.readRequest(requestId)).json()
    assert.deepEqual([seen.status, seen.signature, seen.resolvedAt], ['expired', undefined, undefined])
    const waiting = (await ada.listRequests()).json().requests
    assert.deepEqual(
      waiting.map((each: { requestId: string }) => each.requestId),
      [pending.requestId],
    )
  }
  const signature = ada.pair.sign(payload)
  assert.deepEqual(errorOf(await ada.sign(requestId, signature)), [409, 'request_not_pending'])
  assert.deepEqual(errorOf(await ada.sign(pending.requestId, signature)), [503, 'temporarily_unavailable'])
  await setReadOnly(world, false)
  for (let read = 0; read < 3; read += 1) assert.deepEqual((await shop.status(requestId)).json(), expired)
  assert.equal((await ada.sign(pending.requestId, signature)).statusCode, 200)
})

test('SIG-17 the metadata that an app stores with a request is shown to no user', async () => {
  const ada = await createSigner(world)
  const note = 'margin-of-87-percent'
  const { requestId } = (await shop.request(ada.identityId, { metadata: { note, [note]: 1 } })).json()
  const stranger = signingRequesterOf(world, await world.app())
  const get = (url: string) => world.api.inject({ url, headers: ada.headers })
  const answers = [
    await ada.listRequests(),
    await ada.readRequest(requestId),
    await stranger.status(requestId),
    await shop.status(requestId),
    await ada.sign(requestId, ada.pair.sign(payload)),
    await ada.readRequest(requestId),
    await shop.status(requestId),
    await get('/api/account/export'),
    await world.api.inject({ url: '/api/admin/audit', headers: world.admin }),
    await world.auth.inject({ url: `/sign?requestId=${requestId}`, headers: ada.headers }),
  ]
  for (const { body } of answers) assert.ok(!body.includes(note) && !body.includes('metadata'), body)
  assert.ok(answers[7]?.body.includes(requestId), 'the export contains the request')
})

test('SIG-23 a request of an app disabled or deleted since can be denied, not signed', async () => {
  const ada = await createSigner(world)
  const app = await world.app({ name: 'Soon gone' })
  const requester = signingRequesterOf(world, app)
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.push((await requester.request(ada.identityId)).json().requestId)
  const [first = '', second = '', third = ''] = ids
  const signature = ada.pair.sign(payload)
  const listed = async () =>
    (await ada.listRequests()).json().requests as { requestId: string; app: { name: string } }[]

  await changeApp(app.clientId, 'disabled')
  assert.deepEqual(errorOf(await ada.sign(first, signature)), [409, 'app_disabled'])
  assert.equal((await ada.readRequest(first)).json().status, 'pending')
  assert.equal((await ada.deny(first)).statusCode, 200)
  assert.deepEqual(errorOf(await requester.request(ada.identityId)), [401, 'invalid_client'])
  await changeApp(app.clientId, 'active')
  assert.equal((await ada.sign(second, signature)).statusCode, 200)

  await deleteApp(app.clientId)
  assert.deepEqual(
    (await listed()).map((each) => [each.requestId, each.app.name]),
    [[third, app.clientId]],
  )
  assert.deepEqual(errorOf(await ada.sign(third, signature)), [409, 'app_disabled'])
  assert.equal((await ada.deny(third)).statusCode, 200)
  assert.deepEqual(await listed(), [])
  assert.equal((await ada.readRequest(second)).json().signature, signature, 'a signed request stays signed')
})

test('SIG-23 no signature is accepted after disabling the app was acknowledged', async () => {
  const app = await world.app()
  const requester = signingRequesterOf(world, app)
  const signers = await Promise.all(Array.from({ length: 8 }, () => createSigner(world)))
  const requested = await Promise.all(
    signers.map(async (signer) => ({ signer, id: (await requester.request(signer.identityId)).json().requestId })),
  )
  const [disabled, ...answers] = await Promise.all([
    changeApp(app.clientId, 'disabled'),
    ...requested.map(({ signer, id }) => signer.sign(id, signer.pair.sign(payload))),
  ])
  assert.equal(disabled?.statusCode, 200)
  for (const [index, answer] of answers.entries()) {
    const { status } = (await requester.status(requested[index]?.id)).json()
    if (answer.statusCode === 200) assert.equal(status, 'signed')
    else {
      assert.deepEqual(errorOf(answer), [409, 'app_disabled'])
      assert.equal(status, 'pending')
    }
  }
  for (const { signer, id } of requested)
    assert.equal((await signer.sign(id, signer.pair.sign(payload))).statusCode, 409)
})

test('an app that a user has disconnected may still send requests, marked as not connected', async () => {
  const ada = await createSigner(world)
  const app = await world.app()
  await app.tokens(ada)
  const { requestId } = (await signingRequesterOf(world, app).request(ada.identityId)).json()
  assert.equal((await ada.readRequest(requestId)).json().connected, true)
  const list = '/api/oauth/authorizations'
  const { authorizations } = (await world.api.inject({ url: list, headers: ada.headers })).json()
  const url = `${list}/${authorizations[0].id}`
  assert.ok((await world.api.inject({ method: 'DELETE', url, headers: ada.headers })).statusCode < 300)
  assert.equal((await ada.readRequest(requestId)).json().connected, false)
  assert.equal((await ada.listRequests()).json().requests.length, 1)
  assert.equal((await ada.sign(requestId, ada.pair.sign(payload))).statusCode, 200)
})

test('SIG-24 rate limits of one app affect neither other apps nor its requests to other identities', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  const [loud, quiet] = [signingRequesterOf(world, await world.app()), signingRequesterOf(world, await world.app())]
  const requested = await Promise.all([1, 2, 3].map(() => loud.request(ada.identityId)))
  assert.deepEqual(
    requested.map(({ statusCode }) => statusCode),
    [201, 201, 201],
  )
  assert.deepEqual(errorOf(await loud.request(ada.identityId)), [429, 'too_many_pending'])
  assert.equal((await quiet.request(ada.identityId)).statusCode, 201)
  assert.equal((await loud.request(bob.identityId)).statusCode, 201)
  await ada.deny(requested[0]?.json().requestId)
  assert.equal((await loud.request(ada.identityId)).statusCode, 201)
})
