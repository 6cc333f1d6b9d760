import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds } from '#platform/clock.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'
import { pruneRequests } from '#signing/requests/identities/request.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
})
after(() => world.close())

type History = ResponseOf<'GET /api/signing/history'>
type Signer = Awaited<ReturnType<typeof createSigner>>

const read = ({ headers }: Pick<Person, 'headers'>, query = '') =>
  world.api.inject({ url: `/api/signing/history${query}`, headers })

async function historyOf(person: Pick<Person, 'headers'>, query = ''): Promise<History> {
  const answer = await read(person, query)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function ask(identityId: string, payload: string): Promise<string> {
  const metadata = { note: 'of the app alone' }
  const answer = await shop.request(identityId, { payload, metadata, expiresInSeconds: 60 })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().requestId
}

/** Signs `count` texts, two a second, and returns their requests, newest first. */
async function signMany(ada: Signer, count: number): Promise<string[]> {
  const requestIds: string[] = []
  for (let number = 1; number <= count; number += 1) {
    const requestId = await ask(ada.identityId, `Pay ${number} €`)
    await ada.sign(requestId, ada.pair.sign(`Pay ${number} €`))
    requestIds.unshift(requestId)
    if (number % 2 === 0) world.pass(1)
  }
  return requestIds
}

test('the history lists what a user signed, denied and let expire, and no pending request', async () => {
  const ada = await createSigner(world)
  const signed = await ask(ada.identityId, 'Pay 1 €')
  const signature = ada.pair.sign('Pay 1 €')
  const { resolvedAt } = (await ada.sign(signed, signature)).json()
  world.pass(1)
  const denied = await ask(ada.identityId, 'Pay 2 €')
  await ada.deny(denied)
  world.pass(1)
  const lapsed = await ask(ada.identityId, 'Pay 3 €')
  world.pass(60)
  const pending = await ask(ada.identityId, 'Pay 4 €')

  const { requests, nextCursor } = await historyOf(ada)
  assert.equal(nextCursor, null)
  assert.deepEqual(
    requests.map(({ requestId, payload, status }) => [requestId, payload, status]),
    [
      [lapsed, 'Pay 3 €', 'expired'],
      [denied, 'Pay 2 €', 'denied'],
      [signed, 'Pay 1 €', 'signed'],
    ],
  )
  const [, , first] = requests
  assert.deepEqual(
    [first?.handle, first?.app.name, first?.signature, first?.resolvedAt],
    [ada.handle, 'Shop', signature, resolvedAt],
  )
  assert.deepEqual(
    (await ada.listRequests()).json().requests.map(({ requestId }: { requestId: string }) => requestId),
    [pending],
    'pending requests stay in their own list',
  )
  await ada.rotate(rotationOf(ada.identityId, ada.pair, newSigningPair()))
  assert.equal((await historyOf(ada)).requests[0]?.requestId, pending, 'until its key is replaced')
})

test('SIG-07 SIG-17 a user sees no requests to others, and no app metadata', async () => {
  const [ada, bob] = [await createSigner(world), await createSigner(world)]
  await signMany(ada, 3)
  const [ofBob = ''] = await signMany(bob, 1)
  const { nextCursor } = await historyOf(ada, '?limit=1')
  for (const query of ['', `?cursor=${nextCursor}`]) {
    const { requests } = await historyOf(bob, query)
    assert.deepEqual(
      requests.filter(({ identityId }) => identityId !== bob.identityId),
      [],
    )
  }
  const { body } = await read(ada)
  assert.ok(!body.includes(ofBob) && !body.includes('of the app alone'))
  assert.equal((await world.api.inject({ url: '/api/signing/history' })).statusCode, 401)
})

test('the history is paged over all identities, also for requests of the same moment', async () => {
  const ada = await createSigner(world)
  const first = await signMany(ada, 5)
  const other = await secondName(ada)
  const second = [await ask(other, 'a'), await ask(other, 'b')]
  for (const requestId of second) await ada.deny(requestId)

  const all = (await historyOf(ada)).requests
  assert.deepEqual(all.map(({ requestId }) => requestId).toSorted(), [...first, ...second].toSorted())
  const times = all.map(({ createdAt }) => createdAt)
  assert.deepEqual(times, times.toSorted().toReversed())
  const pages: History['requests'] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: History = await historyOf(ada, `?limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(page.requests.length <= 2)
    pages.push(...page.requests)
    cursor = page.nextCursor
  }
  assert.deepEqual(pages, all)
})

test('unsigned requests are deleted after a while, and paging from a deleted one continues', async () => {
  const ada = await createSigner(world)
  const [signed] = await signMany(ada, 1)
  world.pass(1)
  const denied = await ask(ada.identityId, 'Pay 9 €')
  await ada.deny(denied)
  const { requests, nextCursor } = await historyOf(ada, '?limit=1')
  assert.equal(requests[0]?.requestId, denied)
  const later = addSeconds(world.now(), limits.signingEndedRememberedSeconds + 61)
  await pruneRequests(world.db, later, 500)
  for (const query of ['', `?cursor=${nextCursor}`])
    assert.deepEqual(
      (await historyOf(ada, query)).requests.map(({ requestId }) => requestId),
      [signed],
    )
})

test('requests signed by an organization are in the history of their signers and approvers only', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [ann, bob] = members
  const open = async () => (await shop.requestOf(id, { payload: 'Pay 5 €' })).json().requestId
  const [signed, denied, waiting] = [await open(), await open(), await open()]
  for (const requestId of [signed, denied, waiting]) await ann.sign(requestId, ann.pair.sign('Pay 5 €'))
  await bob.approve(signed, bob.pair.sign('Pay 5 €'))
  await bob.deny(denied)
  world.pass(1)
  const own = await ask(ann.identityId, 'Pay 6 €')
  await ann.deny(own)
  assert.deepEqual((await historyOf(owner)).requests, [])
  const [entry, ...more] = (await historyOf(bob)).requests
  assert.deepEqual([more, entry?.requestId, entry?.signature], [[], signed, ann.pair.sign('Pay 5 €')])
  assert.deepEqual(
    [entry?.organization?.name, entry?.organization?.answered, entry?.organization?.answers.length],
    ['Acme', 'approve', 2],
  )
  const first = await historyOf(ann, '?limit=1')
  const second = await historyOf(ann, `?limit=1&cursor=${first.nextCursor}`)
  assert.deepEqual(
    [...first.requests, ...second.requests].map(({ requestId }) => requestId),
    [own, signed],
  )
  assert.equal(second.nextCursor, null)
})

test('a page has 1 to 100 requests and starts only at the end of another page', async () => {
  const ada = await createSigner(world)
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=%20', 'cursor=1', `cursor=${crypto.randomUUID()}`])
    assert.equal((await read(ada, `?${query}`)).json().error, 'invalid_request', query)
})

/** Creates another identity of a user, with a key. */
async function secondName({ headers, handle }: Signer): Promise<string> {
  const payload = { handle: `${handle}-2`, displayName: 'Ada' }
  const answer = await world.api.inject({ method: 'POST', url: '/api/identities', headers, payload })
  const { identityId } = answer.json()
  const { publicKey } = newSigningPair()
  const key = { publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await world.api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}`, headers, payload: key })
  return identityId
}
