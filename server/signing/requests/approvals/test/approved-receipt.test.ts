import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyOrganizationReceipt, verifyReceipt } from '@countersign/protocol/signing/receipt-verification'
import { approverOf } from '#testing/approver.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf, createSigner } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'
import { signStatement } from '#signing/transparency/log.ts'

let world: TestWorld
let shop: ReturnType<typeof signingRequesterOf>
before(async () => {
  world = await createWorld()
  shop = signingRequesterOf(world, await world.app({ name: 'Shop' }))
})
after(() => world.close())

const payload = 'Pay 10 €'
const receiptOf = async (requestId: string) =>
  (await world.api.inject({ url: `/api/signing/request/${requestId}/receipt?clientId=${shop.clientId}` })).body
const bodyOf = (jws: string) => JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString())
const keySet = async () => (await world.api.inject({ url: '/api/transparency/jwks' })).json()

/** The keys of these tests are made without proofs by their holders. */
const withoutKeyProofs = (unproved: string[]) => unproved.filter((property) => property !== 'no_possession')

/** Signs a receipt as a dishonest service would. */
async function forge(receipt: object): Promise<string> {
  const log = await world.db.selectFrom('transparency_log').selectAll().executeTakeFirstOrThrow()
  const key = { publicKey: log.public_key, sealedPrivateKey: log.sealed_private_key }
  return signStatement(world.kernel.keyring, key, 'countersign-receipt+jwt', receipt)
}

test('SGN-31 a receipt with an approval proves it; one without says so, and fails where one is required', async () => {
  const ada = await createSigner(world)
  const issuer = world.config.authUrl.origin
  const [first, second] = [await shop.request(ada.identityId), await shop.request(ada.identityId)]
  const [approvedId, plainId]: string[] = [first.json().requestId, second.json().requestId]
  await approverOf(world, ada).give(approvedId ?? '')
  await ada.sign(plainId ?? '', ada.pair.sign(payload))
  const [approved, plain] = [await receiptOf(approvedId ?? ''), await receiptOf(plainId ?? '')]
  const keys = await keySet()
  const check = (jws: string, expected: object) => {
    const reading = verifyReceipt(jws, { payload, keySet: keys, ...expected })
    return 'flaw' in reading ? reading.flaw : withoutKeyProofs(reading.unproved)
  }
  const required = { require: 'approval', issuer }
  assert.deepEqual(check(approved, required), [])
  assert.deepEqual(check(approved, {}), [])
  assert.deepEqual(check(plain, {}), ['no_approval'])
  assert.equal(check(plain, required), 'no_approval')
  assert.equal(check(approved, { ...required, issuer: 'https://id.example.org' }), 'invalid_approval')
  for (const unknown of [{ require: 'everything' }, { require: 'approval' }])
    assert.throws(() => check(approved, unknown), TypeError)

  // The service moves the approval, or parts of it, to another request.
  const [honest, other] = [bodyOf(approved), bodyOf(plain)]
  const { presence: _unused, ...withoutPresence } = honest.approval
  const { signature } = honest
  for (const approval of [honest.approval, withoutPresence, { ...honest.approval, signature }])
    assert.equal(check(await forge({ ...other, approval }), {}), 'invalid_approval')
  for (const approval of [withoutPresence, { ...honest.approval, presence: 'A'.repeat(43) + '=' }])
    assert.equal(check(await forge({ ...honest, approval }), required), 'invalid_approval')
  const long = { ...honest.approval, presence: 'A'.repeat(8_000_000) }
  assert.equal(check(await forge({ ...honest, approval: long }), required), 'invalid_approval')
})

test('SGN-41 a receipt dates an approval no other way than its person did', async () => {
  const ada = await createSigner(world)
  const { requestId } = (await shop.request(ada.identityId)).json()
  await approverOf(world, ada).give(requestId)
  const receipt = bodyOf(await receiptOf(requestId))
  const keys = await keySet()
  const check = async (lie: object) => {
    const reading = verifyReceipt(await forge({ ...receipt, ...lie }), { payload, keySet: keys })
    return 'flaw' in reading ? reading.flaw : 'valid'
  }
  const after = (seconds: number) => new Date(Date.parse(receipt.resolvedAt) + seconds * 1000).toISOString()
  // Clocks of the processes of a service may differ by ten minutes.
  for (const seconds of [-600, 900]) assert.equal(await check({ resolvedAt: after(seconds) }), 'valid')
  assert.equal(await check({ resolvedAt: after(901) }), 'invalid_approval')
  assert.equal(await check({ resolvedAt: '2035-01-01T12:00:00.000Z' }), 'invalid_approval')
  assert.equal(await check({ createdAt: after(-3600) }), 'invalid_approval')
})

test('SGN-48 a receipt with another username than its person approved is invalid', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const [ann] = members
  const own = (await shop.request(ann.identityId)).json()
  const shared = (await shop.requestOf(id, { payload: 'Pay 20 €' })).json()
  await approverOf(world, ann).give(own.requestId)
  await approverOf(world, owner).give(shared.requestId, { role: 'sign', text: 'Pay 20 €' })
  await approverOf(world, ann).give(shared.requestId, { role: 'approve', text: 'Pay 20 €' })
  const keys = await keySet()
  const flawOf = (reading: object) => ('flaw' in reading ? reading.flaw : undefined)
  const check = async (receipt: object) => flawOf(verifyReceipt(await forge(receipt), { payload, keySet: keys }))
  const personal = bodyOf(await receiptOf(own.requestId))
  assert.equal(await check(personal), undefined)
  assert.equal(await check({ ...personal, handle: owner.handle }), 'invalid_approval')

  const checkShared = async (receipt: object) =>
    flawOf(verifyOrganizationReceipt(await forge(receipt), { payload: 'Pay 20 €', keySet: keys }))
  const receipt = bodyOf(await receiptOf(shared.requestId))
  assert.equal(await checkShared(receipt), undefined)
  const renamed = (signature: { identityId: string }) =>
    signature.identityId === ann.identityId ? { ...signature, handle: 'mallory' } : signature
  assert.equal(await checkShared({ ...receipt, signatures: receipt.signatures.map(renamed) }), 'invalid_approval')
})

test('SGN-31 the receipt of an organization proves an approval of each member, or says so', async () => {
  const issuer = world.config.authUrl.origin
  const { id, owner, members } = await createSignatories(world, 1, 'signer')
  const [ann] = members
  const answer = async (isSecondApproved: boolean) => {
    const { requestId } = (await shop.requestOf(id)).json()
    await approverOf(world, owner).give(requestId, { role: 'sign' })
    await (isSecondApproved
      ? approverOf(world, ann).give(requestId, { role: 'approve' })
      : ann.approve(requestId, ann.pair.sign(payload)))
    return receiptOf(requestId)
  }
  const [partly, wholly] = [await answer(false), await answer(true)]
  const keys = await keySet()
  const check = (jws: string, expected: object) => {
    const reading = verifyOrganizationReceipt(jws, { payload, keySet: keys, ...expected })
    return 'flaw' in reading ? reading.flaw : withoutKeyProofs(reading.unproved)
  }
  const required = { require: 'approval', issuer }
  assert.deepEqual(check(wholly, required), [])
  assert.deepEqual(check(partly, {}), ['no_approval'])
  assert.equal(check(partly, required), 'no_approval')
  const receipt = bodyOf(wholly)
  assert.equal(check(await forge({ ...receipt, approvalsNeeded: 0 }), {}), 'invalid_approval')
  const renamed = { ...receipt.organization, name: 'Acme Bank' }
  assert.equal(check(await forge({ ...receipt, organization: renamed }), {}), 'invalid_approval')
  const [one, two] = receipt.signatures
  const exchanged = [
    { ...one, approval: two.approval },
    { ...two, approval: one.approval },
  ]
  assert.equal(check(await forge({ ...receipt, signatures: exchanged }), {}), 'invalid_approval')
})
