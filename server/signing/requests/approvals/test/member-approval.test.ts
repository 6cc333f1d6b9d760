import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { findApprovalError } from '@countersign/protocol/signing/approvals'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { answerOf, approverOf } from '#testing/approver.ts'
import { join as joinOrganization } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const payload = 'Pay 10 €'

/** A request to an organization, which two members may sign and approve. */
async function openRequest() {
  const { id, owner, members, grant, set } = await createSignatories(world, 1, 'signer')
  const [ann] = members
  const { requestId, expiresAt } = (await shop.requestOf(id, { expiresInSeconds: 3600 })).json()
  const [byOwner, byAnn] = [approverOf(world, owner), approverOf(world, ann)]
  return { id, owner, ann, grant, set, requestId, expiresAt, byOwner, byAnn }
}

test('SGN-27 each approval for an organization names it, the member, the role and the approvals needed', async () => {
  const { id, ann, requestId, expiresAt, byOwner, byAnn } = await openRequest()
  world.pass(301)
  assert.equal((await byAnn.give(requestId, { role: 'sign' })).json().status, 'pending')
  assert.equal((await byOwner.give(requestId, { role: 'approve' })).json().status, 'signed')
  const { signatures } = (await shop.status(requestId)).json()
  assert.deepEqual(signatures.map(({ role }: { role: string }) => role).toSorted(), ['approve', 'sign'])
  for (const { identityId, memberId, role, publicKey, approval } of signatures) {
    const expected = {
      ...{ requestId, clientId: shop.clientId, identityId, role, payload, publicKey, keyVersion: 1, expiresAt },
      organization: { id, approvalsNeeded: 1, memberId },
      issuer: world.config.authUrl.origin,
      requiresPresence: true,
    }
    const find = (change: object) => findApprovalError(nodeSuite, approval, { ...expected, ...change })
    assert.equal(find({}), undefined)
    assert.equal(find({ role: role === 'sign' ? 'approve' : 'sign' }), 'other_role')
    assert.equal(find({ role: 'self', organization: undefined }), 'other_role')
    for (const other of [{ approvalsNeeded: 0 }, { memberId: crypto.randomUUID() }, { id: requestId }])
      assert.equal(find({ organization: { ...expected.organization, ...other } }), 'other_organization')
  }
  const exported = (await world.api.inject({ url: '/api/account/export', headers: ann.headers })).json()
  assert.equal(
    exported.identities[0].organizationSignatures[0].approval.evidence.credentialId,
    ann.authenticator.credentialId,
  )
})

test('SGN-27 an approval started in one role or by one member answers in no other', async () => {
  const { ann, owner, requestId, byAnn, byOwner } = await openRequest()
  const invalid = [400, 'invalid_flow']
  const toSign = answerOf(ann, await byAnn.begin(requestId, 'sign'))
  assert.deepEqual(errorOf(await byAnn.send(requestId, toSign, 'approve')), invalid)
  const others = { ...answerOf(owner, await byOwner.begin(requestId, 'sign'), { flowId: toSign.approval.flowId }) }
  assert.deepEqual(errorOf(await byOwner.send(requestId, others, 'sign')), invalid)
  assert.deepEqual(errorOf(await byAnn.start(requestId, 'self')), [400, 'invalid_request'])
  const withOthersKey = answerOf(ann, await byAnn.begin(requestId, 'sign'))
  const stolen = { ...withOthersKey, signature: owner.pair.sign(payload) }
  assert.deepEqual(errorOf(await byAnn.send(requestId, stolen, 'sign')), [400, 'invalid_signature'])
  assert.equal((await byAnn.send(requestId, toSign, 'sign')).json().status, 'pending')
  assert.deepEqual(errorOf(await byAnn.send(requestId, toSign, 'sign')), invalid, 'given before')
})

test('SGN-27 a member approves in the role that they have now, with the key that they have now', async () => {
  const { ann, grant, requestId, byAnn } = await openRequest()
  const toSign = answerOf(ann, await byAnn.begin(requestId, 'sign'))
  const toApprove = answerOf(ann, await byAnn.begin(requestId, 'approve'))
  assert.equal((await grant(ann.memberId, { scopes: ['read', 'approve'] })).statusCode, 200)
  assert.deepEqual(errorOf(await byAnn.send(requestId, toSign, 'sign')), [403, 'insufficient_scope'])
  assert.deepEqual(errorOf(await byAnn.start(requestId, 'sign')), [403, 'insufficient_scope'])
  const next = newSigningPair()
  assert.equal((await ann.rotate(rotationOf(ann.identityId, ann.pair, next))).statusCode, 200)
  assert.deepEqual(errorOf(await byAnn.send(requestId, toApprove, 'approve')), [409, 'approval_changed'])
  const renewed = { ...ann, pair: next }
  const again = approverOf(world, renewed)
  assert.equal((await again.give(requestId, { role: 'approve' })).json().status, 'pending')
})

test('SGN-23 SGN-24 a renamed or disabled app gets no approval of an organization', async () => {
  const { ann, requestId, byAnn } = await openRequest()
  const change = (payload: object) =>
    world.api.inject({ method: 'PATCH', url: `/api/admin/apps/${app.clientId}`, headers: world.admin, payload })
  const body = answerOf(ann, await byAnn.begin(requestId, 'sign'))
  await change({ name: 'Bank' })
  assert.deepEqual(errorOf(await byAnn.send(requestId, body, 'sign')), [409, 'approval_changed'])
  await change({ name: 'Shop', status: 'disabled' })
  assert.deepEqual(errorOf(await byAnn.send(requestId, body, 'sign')), [409, 'app_disabled'])
  assert.deepEqual(errorOf(await byAnn.start(requestId, 'sign')), [409, 'app_disabled'])
  await change({ status: 'active' })
  assert.equal((await byAnn.send(requestId, body, 'sign')).statusCode, 200)
})

test('SGN-47 a signature alone replaces no approval of the same person, until that counts no more', async () => {
  const { ann, requestId, byAnn } = await openRequest()
  assert.equal((await byAnn.give(requestId, { role: 'sign' })).statusCode, 200)
  const alone = ann.pair.sign(payload)
  assert.deepEqual(errorOf(await ann.sign(requestId, alone)), [409, 'already_approved'])
  assert.deepEqual(errorOf(await ann.approve(requestId, alone)), [409, 'already_approved'])
  const { approvals } = await world.db
    .selectFrom('signing_organization_signature')
    .select(({ fn }) => fn.count<string>('approval_statement').as('approvals'))
    .where('request_id', '=', requestId)
    .executeTakeFirstOrThrow()
  assert.equal(approvals, '1')
  assert.equal((await byAnn.give(requestId, { role: 'sign' })).statusCode, 200, 'an approval replaces another')

  const next = newSigningPair()
  assert.equal((await ann.rotate(rotationOf(ann.identityId, ann.pair, next))).statusCode, 200)
  assert.equal((await ann.sign(requestId, next.sign(payload))).statusCode, 200)
})

test('SGN-47 nor by another identity of that person', async () => {
  const { id, owner, members } = await createSignatories(world, 0, 'signer')
  const [ann] = members
  const { requestId } = (await shop.requestOf(id)).json()
  assert.equal((await approverOf(world, ann).give(requestId, { role: 'approve' })).json().status, 'pending')
  const other = await addIdentity(ann)
  await joinOrganization(world, { id, owner, role: 'signer' }, { ...ann, ...other })
  assert.deepEqual(errorOf(await ann.sign(requestId, other.pair.sign(payload))), [409, 'already_approved'])
})

test('OSG-10 of members who have all signed, one keeps the signature, also if all approve at once', async () => {
  const { id, owner, members } = await createSignatories(world, 2, 'signer', 'signer')
  const { requestId } = (await shop.requestOf(id)).json()
  const [byOwner, ...both] = [owner, ...members].map((each) => approverOf(world, each))
  assert.ok(byOwner)
  for (const each of both) assert.equal((await each.give(requestId, { role: 'sign' })).statusCode, 200)
  const answers = await Promise.all(both.map((each) => each.give(requestId, { role: 'approve' })))
  assert.deepEqual(answers.map((each) => errorOf(each).join(' ')).toSorted(), ['200 ', '409 approval_changed'])
  const { status, organization } = (await shop.status(requestId)).json()
  assert.deepEqual([status, organization.isSigned, organization.approvals], ['pending', true, 1])
  assert.equal((await byOwner.give(requestId, { role: 'approve' })).json().status, 'signed')
})

test('OSG-10 a member whose own signature counts no more may approve', async () => {
  const { ann, requestId, byAnn } = await openRequest()
  assert.equal((await byAnn.give(requestId, { role: 'sign' })).statusCode, 200)
  assert.deepEqual(errorOf(await byAnn.give(requestId, { role: 'approve' })), [409, 'approval_changed'])
  const next = newSigningPair()
  assert.equal((await ann.rotate(rotationOf(ann.identityId, ann.pair, next))).statusCode, 200)
  const again = approverOf(world, { ...ann, pair: next })
  assert.equal((await again.give(requestId, { role: 'approve' })).json().status, 'pending')
})

/** Creates another identity with a signing key. */
async function addIdentity({ headers }: Awaited<ReturnType<typeof openRequest>>['ann']) {
  const handle = `other-${crypto.randomUUID().slice(0, 8)}`
  const post = (url: string, body: object) => world.api.inject({ method: 'POST', url, headers, payload: body })
  const { identityId } = (await post('/api/identities', { handle, displayName: 'Ann' })).json()
  const pair = newSigningPair()
  const key = { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' }
  assert.equal((await post(`/api/signing/keys/${identityId}`, key)).statusCode, 201)
  return { identityId, handle, pair }
}

test('SGN-20 one of several concurrent approvals of a member is recorded', async () => {
  const { ann, requestId, byAnn } = await openRequest()
  const body = answerOf(ann, await byAnn.begin(requestId, 'sign'), { assertion: { signCount: 3 } })
  const answers = await Promise.all(Array.from({ length: 6 }, () => byAnn.send(requestId, body, 'sign')))
  const codes = answers.map((answer) => errorOf(answer).join(' ')).toSorted()
  assert.deepEqual(codes, ['200 ', ...Array.from({ length: 5 }, () => '400 invalid_flow')])
})

test('SGN-26 the approvals of a deleted identity for an organization go, its signature stays', async () => {
  const { ann, requestId, byAnn, byOwner } = await openRequest()
  await byAnn.give(requestId, { role: 'sign' })
  await byOwner.give(requestId, { role: 'approve' })
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: ann.headers })
  assert.equal(gone.statusCode, 204)
  const answer = await shop.status(requestId)
  const kept = answer
    .json()
    .signatures.map(({ role, approval }: { role: string; approval?: object }) => [role, !!approval])
  assert.deepEqual(kept.toSorted(), [
    ['approve', true],
    ['sign', false],
  ])
  assert.ok(!answer.body.includes(ann.handle))
})
