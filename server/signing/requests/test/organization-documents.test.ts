import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ResponseOf } from '@countersign/protocol/api'
import { asId, type OrganizationId } from '@countersign/protocol/ids'
import { businessRequest, join } from '#testing/organization.ts'
import { signInByOrganization } from '#testing/enterprise-session.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

type Documents = ResponseOf<'GET /api/organizations/:organizationId/signing-requests'>
type Asking = Pick<Person, 'headers'>

const read = ({ headers }: Asking, id: string, query = '') =>
  world.business.inject({ url: `/api/organizations/${id}/signing-requests${query}`, headers })

async function documentsOf(person: Asking, id: string, query = ''): Promise<Documents> {
  const answer = await read(person, id, query)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json()
}

async function ask(id: string, payload: string, expiresInSeconds = 600): Promise<string> {
  const answer = await shop.requestOf(id, { payload, expiresInSeconds })
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().requestId
}

async function rename(name: string): Promise<void> {
  const url = `/api/admin/apps/${app.credentials.client_id}`
  const answer = await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { name } })
  assert.equal(answer.statusCode, 200, answer.body)
}

test('members see what their organization is to sign: what waits, what is signed, and by which members', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const [bob] = members
  const signed = await ask(id, '\r\n  Lease of workshop 3 \nfrom May')
  await owner.sign(signed, owner.pair.sign('\r\n  Lease of workshop 3 \nfrom May'))
  world.pass(1)
  const waiting = await ask(id, 'Buy a loom')
  const first = await documentsOf(bob, id)
  assert.deepEqual(
    first.documents.map(({ requestId, title, status, answers }) => [requestId, title, status, answers.length]),
    [
      [waiting, 'Buy a loom', 'pending', 0],
      [signed, 'Lease of workshop 3', 'pending', 1],
    ],
  )
  assert.deepEqual(
    { ...first, documents: [] },
    {
      documents: [],
      nextCursor: null,
      waiting: 2,
      maySign: true,
      mayApprove: true,
      signers: 2,
      approvers: 2,
    },
  )
  await bob.approve(signed, bob.pair.sign('\r\n  Lease of workshop 3 \nfrom May'))
  world.pass(1)
  const expired = await ask(id, 'Too late', 60)
  world.pass(60)
  await owner.deny(waiting)
  const { documents } = await documentsOf(owner, id)
  assert.deepEqual(
    documents.map(({ requestId, status }) => [requestId, status]),
    [
      [expired, 'expired'],
      [waiting, 'denied'],
      [signed, 'signed'],
    ],
  )
  const only = await documentsOf(owner, id, '?state=signed')
  const [document] = only.documents
  assert.deepEqual(
    [only.documents.length, document?.isSigned, document?.approvals, document?.approvalsNeeded, document?.answered],
    [1, true, 1, 1, 'sign'],
  )
  assert.deepEqual(
    document?.answers.map(({ handle, role, displayName }) => [handle, role, typeof displayName]),
    [
      [owner.handle, 'sign', 'string'],
      [bob.handle, 'approve', 'string'],
    ],
  )
  assert.deepEqual((await documentsOf(owner, id, '?state=waiting')).documents, [])
  assert.equal(only.waiting, 0)
})

test('the documents of an organization are listed page by page', async () => {
  const { id, owner } = await createSignatories(world, 0)
  const requestIds: string[] = []
  for (const number of [1, 2, 3, 4, 5]) {
    requestIds.unshift(await ask(id, `Pay ${number} €`, 60))
    world.pass(61)
  }
  const listed: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: Documents = await documentsOf(owner, id, `?limit=2${cursor && `&cursor=${cursor}`}`)
    listed.push(...page.documents.map(({ requestId }) => requestId))
    cursor = page.nextCursor
  }
  assert.deepEqual(listed, requestIds)
})

test('SIG-60 members alone see the documents, and those who sign or approve what a text says', async () => {
  const { id, owner } = await createSignatories(world, 0)
  const requestId = await ask(id, 'Secret merger')
  const viewer = await world.person()
  await join(world, { id, owner, role: 'viewer' }, viewer)
  const seen = await read(viewer, id)
  assert.equal(seen.statusCode, 200, seen.body)
  assert.ok(!seen.body.includes('Secret'))
  const { documents, maySign, mayApprove } = seen.json<Documents>()
  assert.deepEqual([documents[0]?.requestId, documents[0]?.title, maySign, mayApprove], [requestId, null, false, false])

  const stranger = await createSigner(world)
  assert.equal((await read(stranger, id)).statusCode, 404)
  assert.equal((await read({ headers: { authorization: '' } }, id)).statusCode, 401)
  const byAnother = await signInByOrganization(world, owner)
  assert.equal((await read({ headers: byAnother }, id)).statusCode, 404)
})

test('SIG-61 an app that renames itself changes nothing in what an organization or a user has answered', async () => {
  const { id, owner } = await createSignatories(world, 0)
  await rename('Letters & Ledgers')
  const signed = await ask(id, 'Pay 10 €')
  await owner.sign(signed, owner.pair.sign('Pay 10 €'))
  const own = (await shop.request(owner.identityId, { payload: 'Pay 11 €' })).json().requestId
  await owner.sign(own, owner.pair.sign('Pay 11 €'))
  const denied = (await shop.request(owner.identityId, { payload: 'Pay 12 €' })).json().requestId
  await owner.deny(denied)
  const lapsed = (await shop.request(owner.identityId, { payload: 'Pay 13 €', expiresInSeconds: 60 })).json().requestId
  world.pass(61)
  const waiting = await ask(id, 'Pay 14 €')
  await rename('Your bank')

  const names = new Map(
    (await documentsOf(owner, id)).documents.map(({ requestId, app: { name } }) => [requestId, name]),
  )
  assert.deepEqual([names.get(signed), names.get(waiting)], ['Letters & Ledgers', 'Your bank'])
  const history = await world.api.inject({ url: '/api/signing/history', headers: owner.headers })
  const { requests } = history.json<ResponseOf<'GET /api/signing/history'>>()
  assert.deepEqual(
    requests.map(({ requestId, app: { name } }) => [requestId, name]).toSorted(),
    [signed, own, denied, lapsed].map((requestId) => [requestId, 'Letters & Ledgers']).toSorted(),
  )
  assert.equal((await owner.readRequest(own)).json().app.name, 'Letters & Ledgers')
  await rename('Shop')
})

test('SIG-62 a signer keeps the request after leaving, and no session of another organization reads it', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const [bob] = members
  const requestId = await ask(id, 'Pay 15 €')
  await owner.sign(requestId, owner.pair.sign('Pay 15 €'))
  await bob.approve(requestId, bob.pair.sign('Pay 15 €'))
  const pending = await ask(id, 'Pay 16 €')
  await world.db
    .deleteFrom('organization_signatory')
    .where('organization_id', '=', asId<OrganizationId>(id))
    .where('identity_id', '=', bob.identityId)
    .execute()
  const left = await businessRequest(world, bob, `DELETE /organizations/${id}/members/${bob.memberId}`)
  assert.ok(left.statusCode < 300, left.body)
  const kept = await bob.readRequest(requestId)
  assert.equal(kept.statusCode, 200, kept.body)
  assert.deepEqual([kept.json().payload, kept.json().organization.answered], ['Pay 15 €', 'approve'])
  assert.equal((await bob.readRequest(pending)).statusCode, 404)
  const headers = await signInByOrganization(world, bob)
  const elsewhere = await world.api.inject({ url: `/api/signing/requests/${requestId}`, headers })
  assert.equal(elsewhere.statusCode, 404)
})
