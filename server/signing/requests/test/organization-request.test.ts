import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { limits } from '@countersign/protocol/formats/limits'
import { nameBy } from '#testing/enterprise-session.ts'
import { businessRequest, join } from '#testing/organization.ts'
import { createSignatories, type Signatory } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'
import { pruneOrganizationRequests } from '#signing/requests/organizations/organization-request.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

type Answer = { statusCode: number; body: string; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const payload = 'Pay 10 €'

const acme = <Roles extends OrganizationRole[]>(approvalsNeeded: number, ...roles: Roles) =>
  createSignatories(world, approvalsNeeded, ...roles)

async function open(organizationId: string, fields: object = {}): Promise<string> {
  const opened = await shop.requestOf(organizationId, fields)
  assert.equal(opened.statusCode, 201, opened.body)
  return opened.json().requestId
}
const statusOf = async (requestId: string) => (await shop.status(requestId)).json()
const signs = ({ sign, pair }: Signatory, requestId: string, text = payload) => sign(requestId, pair.sign(text))
const approves = ({ approve, pair }: Signatory, requestId: string, text = payload) =>
  approve(requestId, pair.sign(text))

test('an organization signs through a member with signing authority, and the app sees which', async () => {
  const { id, members } = await acme(0, 'signer')
  const [ann] = members
  const opened = await shop.requestOf(id)
  assert.equal(opened.statusCode, 201)
  const { requestId, organization, expiresAt } = opened.json()
  assert.deepEqual(organization, { id, name: 'Acme', isSigned: false, approvals: 0, approvalsNeeded: 0 })
  assert.deepEqual(await statusOf(requestId), { requestId, status: 'pending', expiresAt, organization })

  const answer = await signs(ann, requestId)
  const at = world.now().toISOString()
  const signature = ann.pair.sign(payload)
  const { publicKey } = ann.pair
  const signed = { ...organization, isSigned: true }
  assert.deepEqual(answer.json(), {
    ...{ requestId, status: 'signed', signature, publicKey, resolvedAt: at },
    organization: signed,
  })
  const { identityId, memberId } = ann
  assert.deepEqual(await statusOf(requestId), {
    ...{ requestId, status: 'signed', expiresAt, resolvedAt: at, publicKey, signature, organization: signed },
    signatures: [{ identityId, memberId, role: 'sign', publicKey, signature, at }],
  })
})

test('OSG-01 OSG-06 a request with required approvals is signed once enough others approve, in any order', async () => {
  const { id, owner, members } = await acme(2, 'signer', 'signer')
  const [ann, bob] = members
  for (const [round, order] of [
    [signs, approves, approves],
    [approves, signs, approves],
    [approves, approves, signs],
  ].entries()) {
    // Each in another role than before, which requires another text.
    const text = `Pay 10 € for invoice ${round}`
    const requestId = await open(id, { payload: text })
    const people = [ann, bob, owner]
    for (const [index, act] of order.entries()) {
      const person = people[index]
      assert.ok(person && act)
      const answer = await act(person, requestId, text)
      assert.equal(answer.json().status, index < 2 ? 'pending' : 'signed', answer.body)
      const { status, signature, signatures } = await statusOf(requestId)
      if (index < 2) assert.deepEqual([status, signature, signatures], ['pending', undefined, undefined])
    }
    const { status, signatures, organization } = await statusOf(requestId)
    assert.deepEqual([status, organization.approvals, organization.approvalsNeeded], ['signed', 2, 2])
    assert.equal(signatures.length, 3)
  }
})

test('OSG-05 a user counts once, with the identity that the council has admitted', async () => {
  const { id, owner, members, council } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const twin = { handle: `twin-${randomUUID().slice(0, 8)}`, displayName: 'Twin' }
  const made = await world.api.inject({ method: 'POST', url: '/api/identities', headers: ann.headers, payload: twin })
  const { identityId } = made.json()
  const pair = newSigningPair()
  const key = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  await world.api.inject({ method: 'POST', url: `/api/signing/keys/${identityId}`, headers: ann.headers, payload: key })
  await join(world, { id, owner, role: 'signer' }, { ...ann, handle: twin.handle, identityId })

  const requestId = await open(id)
  await signs(ann, requestId)
  assert.deepEqual(errorOf(await ann.approve(requestId, pair.sign(payload))), [400, 'invalid_signature'])
  assert.equal((await statusOf(requestId)).organization.approvals, 0)
  await assert.rejects(
    council.decide({ by: owner, others: [bob] }, 'POST /council/signatories', { identityId }),
    /already_signatory/,
  )
  assert.equal((await approves(bob, requestId)).json().status, 'signed')
})

test('OSG-03 members without permission cannot sign or approve, and others do not see the request', async () => {
  const { id, owner, members, grant } = await acme(0, 'signer', 'member', 'viewer')
  const [ann, bob, cid] = members
  const stranger = await createSigner(world)
  const requestId = await open(id)
  for (const person of [bob, cid])
    for (const answer of [
      await signs(person, requestId),
      await approves(person, requestId),
      await person.deny(requestId),
      await person.readRequest(requestId),
    ])
      assert.deepEqual(errorOf(answer), [403, 'insufficient_scope'])
  for (const answer of [
    await signs(stranger, requestId),
    await approves(stranger, requestId),
    await stranger.deny(requestId),
    await stranger.readRequest(requestId),
  ])
    assert.deepEqual(errorOf(answer), [404, 'request_not_found'])
  for (const { listRequests } of [bob, cid, stranger]) assert.deepEqual((await listRequests()).json().requests, [])

  // Signing requires scope and authority; with either alone, a member can at most approve.
  await grant(ann.memberId, { signingAuthority: false })
  assert.deepEqual(errorOf(await signs(ann, requestId)), [403, 'insufficient_scope'])
  await grant(ann.memberId, { signingAuthority: true, scopes: ['read', 'sign'] })
  assert.deepEqual(errorOf(await approves(ann, requestId)), [403, 'insufficient_scope'])
  for (const wrong of [owner.pair.sign(payload), ann.pair.sign('Pay 1000 €'), 'nothing'])
    assert.deepEqual(errorOf(await ann.sign(requestId, wrong)), [400, 'invalid_signature'])
  assert.equal((await signs(ann, requestId)).json().status, 'signed')
})

test('OSG-04 a signature stops counting when the member leaves, loses permission or replaces the key', async () => {
  const { id, owner, members, grant } = await acme(1, 'signer', 'signer', 'signer', 'signer')
  const [ann, bob, cid, dan] = members
  const requestId = await open(id)
  for (const person of [ann, bob, cid]) assert.equal((await signs(person, requestId)).json().status, 'pending')
  const removed = await businessRequest(world, owner, `DELETE /organizations/${id}/members/${ann.memberId}`)
  assert.equal(removed.statusCode, 204)
  await grant(bob.memberId, { signingAuthority: false })
  await cid.rotate(rotationOf(cid.identityId, cid.pair, newSigningPair()))
  assert.equal((await approves(dan, requestId)).json().status, 'pending')
  assert.equal((await statusOf(requestId)).organization.isSigned, false)
  assert.equal((await signs(owner, requestId)).json().status, 'signed')
  const { signatures } = await statusOf(requestId)
  assert.deepEqual(
    signatures.map((each: { identityId: string }) => each.identityId).toSorted(),
    [owner.identityId, dan.identityId].toSorted(),
  )

  // A completed signature stays, whatever happens to its members.
  await businessRequest(world, owner, `DELETE /organizations/${id}/members/${dan.memberId}`)
  assert.deepEqual((await statusOf(requestId)).signatures, signatures)
})

test('OSG-02 OSG-06 one denial ends the request, and its signatures are never revealed', async () => {
  const { id, members } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const requestId = await open(id)
  await signs(ann, requestId)
  assert.deepEqual((await bob.deny(requestId)).json(), {
    ...{ requestId, status: 'denied', resolvedAt: world.now().toISOString() },
  })
  for (const answer of [await approves(bob, requestId), await signs(ann, requestId), await ann.deny(requestId)]) {
    assert.deepEqual(errorOf(answer), [409, 'request_not_pending'])
    assert.equal(JSON.parse(answer.body).status, 'denied')
  }
  const status = await statusOf(requestId)
  assert.deepEqual([status.status, status.signature, status.signatures], ['denied', undefined, undefined])
  const kept = await world.db.selectFrom('signing_organization_signature').where('request_id', '=', requestId).execute()
  assert.deepEqual(kept, [])
})

test('OSG-02 an expired request cannot be signed, and the app gets the expiry', async () => {
  const { id, members } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const requestId = await open(id, { expiresInSeconds: 60 })
  await signs(ann, requestId)
  world.pass(60)
  assert.deepEqual(errorOf(await approves(bob, requestId)), [409, 'request_not_pending'])
  assert.equal((await statusOf(requestId)).status, 'expired')
  assert.deepEqual((await bob.listRequests()).json().requests, [])
})

test('OSG-01 the policy of the time of creation applies after a council lowers it', async () => {
  const { id, owner, set, council, members } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const requestId = await open(id)
  await council.decide({ by: owner, others: [bob] }, 'PATCH', { approvalsNeeded: 0 })
  assert.equal((await signs(ann, requestId)).json().status, 'pending')
  assert.equal((await approves(bob, requestId)).json().status, 'signed')
  assert.equal((await signs(ann, await open(id))).json().status, 'signed')
  assert.equal((await set({ approvalsNeeded: limits.approvalsNeededMax + 1 })).statusCode, 400)
  world.pass(limits.freshAuthenticationSeconds + 1)
  assert.deepEqual(errorOf(await set({ approvalsNeeded: 1 })), [403, 'reauthentication_required'])
  assert.equal((await set({ logoUrl: null })).statusCode, 200)
})

test('a request is rejected for an organization that cannot sign, is unknown, or comes with an identity', async () => {
  const { id, owner, members } = await acme(1, 'signer')
  const removed = await businessRequest(world, owner, `DELETE /organizations/${id}/members/${members[0].memberId}`)
  assert.equal(removed.statusCode, 204, removed.body)
  assert.deepEqual(errorOf(await shop.requestOf(id)), [422, 'no_signing_key'])
  assert.deepEqual(errorOf(await shop.requestOf(randomUUID())), [404, 'organization_not_found'])
  assert.deepEqual(errorOf(await shop.requestOf(owner.identityId)), [404, 'organization_not_found'])
  assert.deepEqual(errorOf(await shop.request(id)), [404, 'identity_not_found'])
  for (const fields of [{ identityId: owner.identityId }, { organizationId: undefined }])
    assert.deepEqual(errorOf(await shop.requestOf(id, fields)), [400, 'invalid_request'])
})

test('SIG-24 an app without a connection to an organization has a low limit, which affects no other app', async () => {
  const { id, members } = await acme(0, 'signer')
  const [ann] = members
  const other = await world.app()
  const asks = signingRequesterOf(world, other)
  const answers = await Promise.all(
    Array.from({ length: limits.signingPendingOfUnconnectedMax + 5 }, () => asks.requestOf(id)),
  )
  const taken = answers.filter(({ statusCode }) => statusCode === 201)
  assert.equal(taken.length, limits.signingPendingOfUnconnectedMax)
  const refused = await asks.requestOf(id)
  assert.deepEqual(errorOf(refused), [429, 'too_many_pending'])
  assert.equal(refused.headers['retry-after'], '300')
  const requestId = await open(id)
  await ann.deny(requestId)
})

test('SIG-15 SIG-17 only its app reads the status, and no other caller sees its metadata', async () => {
  const { id, members } = await acme(0, 'signer')
  const [ann] = members
  const requestId = await open(id, { metadata: { note: 'of the app alone' } })
  const other = signingRequesterOf(world, await world.app())
  assert.deepEqual(errorOf(await other.status(requestId)), [403, 'access_denied'])
  for (const answer of [await ann.readRequest(requestId), await ann.listRequests(), await shop.status(requestId)])
    assert.ok(!answer.body.includes('of the app alone'))
  const tooLarge = { metadata: { note: 'x'.repeat(limits.signingMetadataBytesMax) } }
  assert.deepEqual(errorOf(await shop.requestOf(id, tooLarge)), [400, 'invalid_request'])
})

test('OSG-06 a member sees organization, own role and signers, but no signature before completion', async () => {
  const { id, members } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const requestId = await open(id)
  await signs(ann, requestId)
  const seen = (await bob.readRequest(requestId)).json()
  const { organization, ...request } = seen
  assert.deepEqual(
    [request.identityId, request.handle, request.payload, request.publicKey, request.signature, request.connected],
    [bob.identityId, bob.handle, payload, bob.pair.publicKey, undefined, false],
  )
  assert.deepEqual(organization, {
    ...{ id, name: 'Acme', isSigned: true, approvals: 0, approvalsNeeded: 1 },
    ...{ memberId: bob.memberId, maySign: true, mayApprove: true, answered: null },
    answers: [{ memberId: ann.memberId, handle: ann.handle, role: 'sign', at: world.now().toISOString() }],
  })
  assert.deepEqual((await bob.listRequests()).json().requests, [seen])
  assert.equal((await ann.readRequest(requestId)).json().organization.answered, 'sign')
  assert.deepEqual((await ann.listRequests()).json().requests, [], 'the member has signed')
  await approves(bob, requestId)
  const after = (await bob.readRequest(requestId)).json()
  assert.deepEqual([after.status, after.signature], ['signed', ann.pair.sign(payload)])
  assert.equal(after.publicKey, ann.pair.publicKey)
})

test('OSG-07 an organization that requires SSO is signed for only after SSO, also by owners', async () => {
  const { id, owner } = await acme(0)
  const requestId = await open(id)
  const connectionId = randomUUID()
  await world.db
    .updateTable('organization')
    .set({ sso_required: true, sso_connection_id: connectionId })
    .where('organization_id', '=', id)
    .execute()
  const refused = await signs(owner, requestId)
  assert.deepEqual(errorOf(refused), [403, 'enterprise_sso_required'])
  assert.equal(refused.json().organizationName, 'Acme')
  assert.match(refused.json().loginUrl, new RegExp(`/api/sso/${connectionId}/start$`))
  assert.deepEqual((await owner.listRequests()).json().requests, [])
  await nameBy(world, owner, { organizationId: id, connectionId })
  assert.equal((await signs(owner, requestId)).json().status, 'signed')
})

test('OSG-07 a suspended organization cannot sign', async () => {
  const { id, owner } = await acme(0)
  const requestId = await open(id)
  const url = `/api/admin/organizations/${id}`
  await world.api.inject({ method: 'PATCH', url, headers: world.admin, payload: { status: 'suspended' } })
  assert.deepEqual(errorOf(await signs(owner, requestId)), [404, 'request_not_found'])
  assert.deepEqual(errorOf(await shop.requestOf(id)), [404, 'organization_not_found'])
  assert.equal((await statusOf(requestId)).status, 'pending')
})

test('OSG-02 SIG-08 of concurrent answers one ends the request: never with too few, never after a denial', async () => {
  const { id, members } = await acme(2, 'signer', 'signer', 'signer', 'signer')
  const [ann, bob, cid, dan] = members
  for (let round = 0; round < 12; round += 1) {
    const requestId = await open(id)
    const denies = round % 2 === 0
    const answers = await Promise.all([
      signs(ann, requestId),
      approves(bob, requestId),
      denies ? dan.deny(requestId) : approves(dan, requestId),
      approves(cid, requestId),
      approves(bob, requestId),
      signs(ann, requestId),
    ])
    const { status, organization, signatures } = await statusOf(requestId)
    const received = answers.map((answer) => answer.json().status)
    if (status === 'signed') {
      assert.ok(organization.approvals >= 2 && organization.isSigned)
      assert.equal(signatures.length, 1 + organization.approvals)
      assert.equal(received.filter((said, index) => said === 'signed' && answers[index]?.statusCode === 200).length, 1)
    }
    if (denies) assert.equal(status === 'denied', answers[2]?.statusCode === 200)
    assert.notEqual(status, 'pending')
  }
})

test('OSG-04 removing a permission during an answer takes effect before it, or the signature counts', async () => {
  const { id, owner, members, grant } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  let pair = ann.pair
  const take = async (round: number) => {
    if (round % 2 === 0) return grant(ann.memberId, { signingAuthority: false })
    const [before, next] = [pair, newSigningPair()]
    pair = next
    return ann.rotate(rotationOf(ann.identityId, before, next))
  }
  for (let round = 0; round < 12; round += 1) {
    const requestId = await open(id)
    assert.equal((await ann.sign(requestId, pair.sign(payload))).json().status, 'pending')
    const [approved, taken] = await Promise.all([approves(bob, requestId), take(round)])
    assert.equal(taken.statusCode, 200, taken.body)
    const { status, organization, signatures } = await statusOf(requestId)
    assert.equal(approved.json().status, status)
    assert.equal(organization.isSigned, status === 'signed')
    if (status === 'signed') assert.equal(signatures.length, 2)
    assert.equal((await grant(ann.memberId, { signingAuthority: true })).statusCode, 200)
    if (status === 'pending') await owner.deny(requestId)
  }
})

test('deleting an account removes its pending signatures and keeps completed ones without name', async () => {
  const { id, members } = await acme(1, 'signer', 'signer')
  const [ann, bob] = members
  const [done, waiting] = [await open(id), await open(id)]
  await signs(ann, done)
  await approves(bob, done)
  await signs(ann, waiting)
  const exported = await world.api.inject({ url: '/api/account/export', headers: ann.headers })
  const { organizationSignatures } = exported.json().identities[0]
  assert.deepEqual(
    organizationSignatures.map((each: { requestId: string }) => each.requestId).toSorted(),
    [done, waiting].toSorted(),
  )
  const before = await statusOf(done)
  const deleted = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ann.headers })
  assert.ok(deleted.statusCode < 300, deleted.body)
  assert.deepEqual(await statusOf(done), before)
  assert.equal((await approves(bob, waiting)).json().status, 'pending')
  assert.equal((await statusOf(waiting)).organization.isSigned, false)
  const names = await world.db
    .selectFrom('signing_organization_signature')
    .select('signed_handle')
    .where('identity_id', '=', ann.identityId)
    .execute()
  assert.deepEqual(names, [{ signed_handle: null }])
})

test('unsigned requests are deleted after a month, signed ones are not', async () => {
  const { id, members } = await acme(0, 'signer')
  const [ann] = members
  const [signed, denied, expired] = [await open(id), await open(id), await open(id)]
  await signs(ann, signed)
  await ann.deny(denied)
  world.pass(limits.signingLifetimeSeconds)
  assert.equal((await statusOf(expired)).status, 'expired')
  world.pass(limits.signingEndedRememberedSeconds)
  while ((await pruneOrganizationRequests(world.db, world.now(), 500)) > 0);
  for (const requestId of [denied, expired])
    assert.deepEqual(errorOf(await shop.status(requestId)), [404, 'request_not_found'])
  assert.equal((await statusOf(signed)).status, 'signed')
})
