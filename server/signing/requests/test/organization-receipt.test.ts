import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyOrganizationReceipt, verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import type { OrganizationReceipt } from '@countersign/protocol/signing/receipts'
import { businessRequest, join, membersOf } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestApp, type TestWorld } from '#testing/world.ts'
import { signStatement } from '#signing/transparency/log.ts'

let world: TestWorld
let app: TestApp
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  app = await world.app({ name: 'Shop' })
  shop = signingRequesterOf(world, app)
})
after(() => world.close())

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'
type Signer = Awaited<ReturnType<typeof createSigner>>

/** Creates a request that an organization has signed: by its owner, approved by another member. */
async function signed() {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer')
  const [bob] = members
  const ownerId = (await membersOf(world, id, owner)).find(({ role }) => role === 'owner')?.memberId ?? ''
  const { requestId } = (await shop.requestOf(id, { payload })).json()
  await owner.sign(requestId, owner.pair.sign(payload))
  world.pass(1)
  const answer = await bob.approve(requestId, bob.pair.sign(payload))
  assert.equal(answer.json().status, 'signed', answer.body)
  return { id, requestId, council, owner: { ...owner, memberId: ownerId }, bob }
}

const byMember = ({ headers }: Pick<Signer, 'headers'>, requestId: string) =>
  world.api.inject({ url: `/api/signing/requests/${requestId}/receipt`, headers })
const byApp = (requestId: string, clientId = app.clientId) =>
  world.api.inject({ url: `/api/signing/request/${requestId}/receipt?clientId=${clientId}` })
const keySet = async () => (await world.api.inject({ url: '/api/transparency/jwks' })).json()
const check = async (jws: string, text = payload) =>
  verifyOrganizationReceipt(jws, { payload: text, keySet: await keySet() })

/** Signs a receipt as a dishonest service would. */
async function forge(receipt: object): Promise<string> {
  const log = await world.db.selectFrom('transparency_log').selectAll().executeTakeFirstOrThrow()
  const key = { publicKey: log.public_key, sealedPrivateKey: log.sealed_private_key }
  return signStatement(world.kernel.keyring, key, 'countersign-receipt+jwt', receipt)
}

async function receiptOf(jws: string): Promise<OrganizationReceipt> {
  const reading = await check(jws)
  return 'receipt' in reading ? reading.receipt : assert.fail(reading.flaw)
}

test('the receipt of an organization contains every signature and proves each of their keys', async () => {
  const { id, requestId, owner, bob } = await signed()
  const answer = await byApp(requestId)
  assert.equal(answer.statusCode, 200, answer.body)
  const { signatures, checkpoint, ...receipt } = await receiptOf(answer.body)
  const at = world.now().toISOString()
  const before = new Date(world.now().getTime() - 1000).toISOString()
  assert.deepEqual(receipt, {
    version: 2,
    requestId,
    clientId: app.clientId,
    organization: { id, name: 'Acme' },
    council: { resetAt: null },
    approvalsNeeded: 1,
    payloadSha256: '/PYV39+/H7a/juAUOgx1OAZH3zCgbK63UxQ85BtRMzY=',
    createdAt: before,
    resolvedAt: at,
    issuedAt: at,
  })
  assert.match(checkpoint, /^localhost:4400\/transparency\n\d+\n/)
  const expected = [
    { ...owner, role: 'sign', at: before },
    { ...bob, role: 'approve', at },
  ]
  assert.deepEqual(
    signatures,
    expected.map(({ identityId, memberId, handle, role, pair, at: signedAt }, index) => ({
      ...{ identityId, memberId, handle, role, keyVersion: 1, at: signedAt, history: signatures[index]?.history },
      signature: pair.sign(payload),
      publicKey: pair.publicKey,
      admittedAt: before,
    })),
  )
  assert.deepEqual(await receiptOf((await byMember(bob, requestId)).body), {
    ...receipt,
    signatures,
    checkpoint,
  })
})

test('a receipt stays valid after key rotations, departures of members and deletion of the organization', async () => {
  const { id, requestId, owner, bob, council } = await signed()
  const next = newSigningPair()
  await bob.rotate(rotationOf(bob.identityId, bob.pair, next))
  const { organization } = await receiptOf((await byApp(requestId)).body)
  await council.decide({ by: owner, others: [{ ...bob, pair: next }] }, 'PATCH', { approvalsNeeded: 0 })
  await businessRequest(world, owner, `DELETE /organizations/${id}/members/${bob.memberId}`)
  const deleted = await businessRequest(world, owner, `DELETE /organizations/${id}`)
  assert.equal(deleted.statusCode, 204, deleted.body)
  const afterwards = await receiptOf((await byApp(requestId)).body)
  assert.deepEqual(afterwards.organization, organization)
  assert.equal(afterwards.signatures.length, 2)
})

test('former members get the receipt only if they signed', async () => {
  const { id, requestId, owner, bob, council } = await signed()
  const carol = await createSigner(world)
  const { memberId } = await join(world, { id, owner, role: 'signer' }, carol)
  await council.decide({ by: owner, others: [bob] }, 'POST /council/signatories', { identityId: carol.identityId })
  const { requestId: waiting } = (await shop.requestOf(id, { payload })).json()
  assert.equal((await carol.approve(waiting, carol.pair.sign(payload))).statusCode, 200)
  for (const leaver of [bob.memberId, memberId])
    assert.equal((await businessRequest(world, owner, `DELETE /organizations/${id}/members/${leaver}`)).statusCode, 204)
  const { signatures } = await receiptOf((await byMember(bob, requestId)).body)
  assert.deepEqual(
    signatures.map(({ handle }) => handle),
    [owner.handle, bob.handle],
  )
  for (const [person, request] of [
    [bob, waiting],
    [carol, waiting],
    [carol, requestId],
  ] as const)
    assert.equal((await byMember(person, request)).statusCode, 404)
})

test('OSG-08 TLG-09 a receipt with too few members, or with signatures of others, is invalid', async () => {
  const { requestId, owner } = await signed()
  const receipt = await receiptOf((await byApp(requestId)).body)
  const [one, two] = receipt.signatures
  assert.ok(one && two)
  const stranger = newSigningPair()
  const lies: [flaw: string, lie: object][] = [
    ['payload_mismatch', { payloadSha256: one.signature }],
    ['insufficient_signatures', { signatures: [one] }],
    ['insufficient_signatures', { signatures: [two] }],
    ['insufficient_signatures', { signatures: [one, { ...one, role: 'approve' }] }],
    ['insufficient_signatures', { signatures: [one, two, two], approvalsNeeded: 2 }],
    ['insufficient_signatures', { signatures: [two, { ...one, role: 'approve' }] }],
    ['insufficient_signatures', { signatures: [one, { ...two, memberId: one.memberId }] }],
    ['insufficient_signatures', { signatures: [one, { ...one, role: 'approve', identityId: two.identityId }] }],
    ['insufficient_signatures', { approvalsNeeded: 2 }],
    ['invalid_signature', { signatures: [one, { ...two, signature: one.signature }] }],
    ['invalid_signature', { signatures: [one, { ...two, signature: stranger.sign(payload) }] }],
    ['key_not_in_log', { signatures: [one, { ...two, ...of(stranger) }] }],
    ['key_not_in_log', { signatures: [one, { ...two, identityId: requestId }] }],
    ['key_not_in_log', { signatures: [one, { ...two, history: one.history }] }],
    ['key_not_in_log', { signatures: [one, { ...two, keyVersion: 2 }] }],
    ['malformed_receipt', { signatures: [] }],
    ['malformed_receipt', { signatures: [one, { ...two, identityId: undefined }] }],
    ['malformed_receipt', { signatures: [one, { ...two, memberId: undefined }] }],
    ['malformed_receipt', { version: 1 }],
  ]
  for (const [flaw, lie] of lies)
    assert.deepEqual(await check(await forge({ ...receipt, ...lie })), { flaw }, JSON.stringify(lie))
  assert.deepEqual(await check((await byApp(requestId)).body, 'another text'), { flaw: 'payload_mismatch' })
  assert.ok('receipt' in (await check(await forge(receipt))), 'the unaltered receipt is valid')
  assert.equal(one.identityId, owner.identityId)
})

function of({ publicKey, sign }: ReturnType<typeof newSigningPair>) {
  return { publicKey, signature: sign(payload) }
}

test('a receipt of signers who replaced their keys hundreds of times is read', async () => {
  const { requestId } = await signed()
  const receipt = await receiptOf((await byApp(requestId)).body)
  const [first] = receipt.signatures
  assert.ok(first)
  const history = Array.from({ length: 401 }, () => first.history[0])
  const signatures = Array.from({ length: 20 }, () => ({ ...first, history }))
  const large = await forge({ ...receipt, signatures })
  assert.deepEqual(await check(large, 'another text'), { flaw: 'payload_mismatch' })
})

test('OSG-08 the receipt of an organization is not accepted as that of a user, nor the reverse', async () => {
  const { requestId, owner } = await signed()
  const given = { payload, keySet: await keySet() }
  assert.deepEqual(verifyReceipt((await byApp(requestId)).body, given), { flaw: 'malformed_receipt' })
  const own = (await shop.request(owner.identityId, { payload })).json()
  await owner.sign(own.requestId, owner.pair.sign(payload))
  assert.deepEqual(await check((await byApp(own.requestId)).body), { flaw: 'malformed_receipt' })
})

test('only signers and the app get the receipt of an organization, and only of a signed request', async () => {
  const { id, requestId } = await signed()
  const stranger = await createSigner(world)
  assert.equal((await byMember(stranger, requestId)).statusCode, 404)
  const other = await world.app()
  assert.deepEqual((await byApp(requestId, other.clientId)).json().error, 'access_denied')
  const pending = (await shop.requestOf(id, { payload })).json()
  assert.equal((await byApp(pending.requestId)).json().error, 'request_not_signed')
})
