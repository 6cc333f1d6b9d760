import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { join, createOrganization, reauthenticate } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
let bank: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
  bank = signingRequesterOf(world, await world.app({ name: 'Bank' }))
})
after(() => world.close())

type Answer = { statusCode: number; body: string; json: () => { error?: string; requestId: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const reused = [409, 'signature_reused']
const payload = 'Pay 10 €'

const opened = async (requested: Promise<Answer>) => (await requested).json().requestId

test('SGN-01 a session without a recent passkey use cannot sign or approve, but can deny', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const [ann] = members
  const lifetime = { expiresInSeconds: 3600 }
  const own = await opened(shop.request(ann.identityId, lifetime))
  const forAcme = await opened(shop.requestOf(id, { ...lifetime, payload: 'Pay 20 €' }))
  const denied = [await opened(shop.request(ann.identityId, lifetime)), await opened(shop.requestOf(id, lifetime))]
  world.pass(301)
  const stale = [403, 'reauthentication_required']
  assert.deepEqual(errorOf(await ann.sign(own, ann.pair.sign(payload))), stale)
  assert.deepEqual(errorOf(await ann.sign(forAcme, ann.pair.sign('Pay 20 €'))), stale)
  assert.deepEqual(errorOf(await owner.approve(forAcme, owner.pair.sign('Pay 20 €'))), stale)
  for (const requestId of denied) assert.equal((await ann.deny(requestId)).statusCode, 200)
  for (const requestId of [own, forAcme]) assert.equal((await shop.status(requestId)).json().status, 'pending')

  for (const person of [ann, owner]) await reauthenticate(world, person)
  assert.equal((await ann.sign(own, ann.pair.sign(payload))).json().status, 'signed')
  assert.equal((await ann.sign(forAcme, ann.pair.sign('Pay 20 €'))).json().status, 'pending')
  assert.equal((await owner.approve(forAcme, owner.pair.sign('Pay 20 €'))).json().status, 'signed')
})

test('SIG-27 SGN-02 a signature given to one app answers no request of another', async () => {
  const ada = await createSigner(world)
  const first = await opened(shop.request(ada.identityId))
  const second = await opened(bank.request(ada.identityId))
  assert.equal((await ada.sign(first, ada.pair.sign(payload))).statusCode, 200)

  // Like an attacker with the session, but without the key.
  const session = { headers: await ada.signIn() }
  const history = await world.api.inject({ url: '/api/signing/history', ...session })
  const { signature } = history.json().requests[0]
  const url = `/api/signing/requests/${second}/sign`
  const stolen = await world.api.inject({ method: 'POST', url, ...session, payload: { signature } })
  assert.deepEqual(errorOf(stolen), reused)
  const { status, signature: recorded } = (await bank.status(second)).json()
  assert.deepEqual([status, recorded], ['pending', undefined])
  const receipt = await world.api.inject({
    url: `/api/signing/request/${second}/receipt?clientId=${bank.clientId}`,
  })
  assert.notEqual(receipt.statusCode, 200)
  assert.equal((await ada.deny(second)).statusCode, 200)
})

test('SIG-27 the same text in a new request of the same app can be signed again', async () => {
  const ada = await createSigner(world)
  const first = await opened(shop.request(ada.identityId))
  const signature = ada.pair.sign(payload)
  assert.equal((await ada.sign(first, signature)).statusCode, 200)
  const second = await opened(shop.request(ada.identityId))
  assert.notEqual(second, first)
  assert.equal((await shop.status(second)).json().status, 'pending')
  const [waiting] = (await ada.listRequests()).json().requests
  assert.equal(waiting.requestId, second)
  assert.equal((await ada.sign(second, signature)).statusCode, 200)
  assert.equal((await shop.status(second)).json().signature, signature)
})

test('SGN-03 a signature for oneself, another role or another organization completes no request', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [ann, bob] = members
  const personal = await opened(shop.request(ann.identityId))
  assert.equal((await ann.sign(personal, ann.pair.sign(payload))).json().status, 'signed')
  const requestId = await opened(shop.requestOf(id))
  assert.deepEqual(errorOf(await ann.sign(requestId, ann.pair.sign(payload))), reused)
  assert.deepEqual(errorOf(await ann.approve(requestId, ann.pair.sign(payload))), reused)

  assert.equal((await bob.sign(requestId, bob.pair.sign(payload))).json().status, 'pending')
  assert.equal((await owner.approve(requestId, owner.pair.sign(payload))).json().status, 'signed')
  const again = await opened(shop.requestOf(id))
  assert.deepEqual(errorOf(await owner.sign(again, owner.pair.sign(payload))), reused)
  assert.deepEqual(errorOf(await bob.approve(again, bob.pair.sign(payload))), reused)
  const own = await opened(shop.request(owner.identityId))
  assert.deepEqual(errorOf(await owner.sign(own, owner.pair.sign(payload))), reused)

  const other = await createOrganization(world, owner)
  await join(world, { id: other.id, owner, role: 'signer' }, bob)
  const ofOther = await opened(shop.requestOf(other.id))
  assert.deepEqual(errorOf(await bob.sign(ofOther, bob.pair.sign(payload))), reused)

  assert.equal((await bob.sign(again, bob.pair.sign(payload))).json().status, 'pending')
  assert.equal((await owner.approve(again, owner.pair.sign(payload))).json().status, 'signed')
})

test('SGN-03 a member cannot change the role within one request, and the signature stays', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [ann, bob] = members
  const requestId = await opened(shop.requestOf(id, { payload: 'Pay 30 €' }))
  const signature = ann.pair.sign('Pay 30 €')
  assert.equal((await ann.sign(requestId, signature)).json().status, 'pending')
  assert.deepEqual(errorOf(await ann.approve(requestId, signature)), reused)
  assert.equal((await bob.approve(requestId, bob.pair.sign('Pay 30 €'))).json().status, 'signed')

  const anew = await opened(shop.requestOf(id, { payload: 'Pay 30 €, once more' }))
  assert.equal((await owner.approve(anew, owner.pair.sign('Pay 30 €, once more'))).json().status, 'pending')
  assert.deepEqual(errorOf(await owner.sign(anew, owner.pair.sign('Pay 30 €, once more'))), reused)
  assert.equal((await ann.sign(anew, ann.pair.sign('Pay 30 €, once more'))).json().status, 'signed')
})

test('SGN-02 of requests of two apps answered concurrently with one signature, one is signed', async () => {
  const signers = await Promise.all(Array.from({ length: 8 }, () => createSigner(world)))
  for (const ada of signers) {
    const ids = [await opened(shop.request(ada.identityId)), await opened(bank.request(ada.identityId))]
    const answers = await Promise.all(ids.map((requestId) => ada.sign(requestId, ada.pair.sign(payload))))
    assert.deepEqual(answers.map(({ statusCode }) => statusCode).toSorted(), [200, 409])
    const [ofShop, ofBank] = [await shop.status(ids[0] ?? ''), await bank.status(ids[1] ?? '')]
    assert.deepEqual([ofShop.json().status, ofBank.json().status].toSorted(), ['pending', 'signed'])
  }
})
