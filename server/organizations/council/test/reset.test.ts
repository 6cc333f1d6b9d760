import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { verifyOrganizationReceipt } from '@countersign/protocol/signing/receipt-verification'
import { approverOf } from '#testing/approver.ts'
import { codeIn, openMailbox, type Mailbox } from '#testing/mailbox.ts'
import { businessRequest, reauthenticate } from '#testing/organization.ts'
import { editAddress } from '#testing/people.ts'
import { createSignatories, type Signatory } from '#testing/signatories.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let mailbox: Mailbox
let world: TestWorld
before(async () => {
  mailbox = await openMailbox()
  world = await createWorld({
    environment: { SMTP_URL: mailbox.url, MAIL_FROM: 'Countersign <id@example.com>' },
  })
})
after(async () => {
  await world.close()
  await mailbox.close()
})

const days = 24 * 3600
type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const ask = (person: Pick<Person, 'headers'>, what: Parameters<typeof businessRequest>[2], payload?: object) =>
  businessRequest(world, person, what, payload)
const read = async (person: Pick<Person, 'headers'>, id: string) =>
  (await ask(person, `GET /organizations/${id}/council`)).json().council
const veto = (person: Pick<Person, 'headers'>, id: string) => ask(person, `DELETE /organizations/${id}/council/reset`)

type Council = Awaited<ReturnType<typeof createSignatories>>['council']
const requestReset = async (council: Council, owner: Signatory) =>
  council.perform(owner, await council.start(owner, 'POST /council/reset'))
const completeReset = async (council: Council, owner: Signatory) =>
  council.perform(owner, await council.start(owner, 'POST /council/reset/completion'))

/** Signs and approves a new request of an organization, and returns what its receipt says. */
async function receiptOf(id: string, signer: Signatory, approvers: Signatory[]) {
  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.requestOf(id)).json()
  assert.equal((await approverOf(world, signer).give(requestId, { role: 'sign' })).statusCode, 200)
  for (const approver of approvers) {
    const answer = await approverOf(world, approver).give(requestId, { role: 'approve' })
    assert.equal(answer.statusCode, 200, answer.body)
  }
  return { read: () => readReceipt(shop.clientId, requestId) }
}

async function readReceipt(clientId: string, requestId: string) {
  const jws = (await world.api.inject({ url: `/api/signing/request/${requestId}/receipt?clientId=${clientId}` })).body
  const keySet = (await world.api.inject({ url: '/api/transparency/jwks' })).json()
  const reading = verifyOrganizationReceipt(jws, { payload: 'Pay 10 €', keySet })
  return 'receipt' in reading ? reading.receipt : assert.fail(`${reading.flaw}: ${jws}`)
}

test('CNC-19 an owner ends a council after fourteen days in which nobody vetoed, and receipts tell so', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer')
  const earlier = await receiptOf(id, owner, [members[0]])
  await requestReset(council, owner)
  const { resetRequestedAt, resetPossibleAt, resetAt } = await read(owner, id)
  assert.equal(resetRequestedAt, world.now().toISOString())
  assert.equal(Date.parse(resetPossibleAt) - Date.parse(resetRequestedAt), 14 * days * 1000)
  assert.equal(resetAt, null)
  await assert.rejects(requestReset(council, owner), /reset_pending/)
  world.pass(14 * days - 1)
  await assert.rejects(completeReset(council, owner), /reset_too_early/)
  world.pass(1)
  await completeReset(council, owner)
  const ended = await read(owner, id)
  assert.deepEqual(
    [ended.approvalsNeeded, ended.signatories, ended.resetRequestedAt, ended.resetAt],
    [0, [], null, world.now().toISOString()],
  )
  const later = await receiptOf(id, owner, [])
  assert.deepEqual((await later.read()).council, { resetAt: world.now().toISOString() })
  assert.deepEqual((await earlier.read()).council, { resetAt: null })
  // The next council shows it too.
  await council.decide({ by: owner, others: members }, 'PATCH', { approvalsNeeded: 1 })
  assert.deepEqual((await (await receiptOf(id, owner, members)).read()).council, { resetAt: ended.resetAt })
})

test('CNC-20 a request for a reset lapses after 28 days', async () => {
  const { id, owner, council } = await createSignatories(world, 1, 'signer')
  await requestReset(council, owner)
  world.pass(28 * days)
  await assert.rejects(completeReset(council, owner), /reset_expired/)
  assert.equal((await read(owner, id)).resetRequestedAt, null)
  await requestReset(council, owner)
  assert.equal((await read(owner, id)).resetRequestedAt, world.now().toISOString())
})

test('CNC-21 a signatory who was suspended and removed still vetoes a reset', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const [one] = members
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  await reauthenticate(world, owner)
  assert.equal((await ask(owner, `DELETE /organizations/${id}/members/${one.memberId}`)).statusCode, 204)
  await requestReset(council, owner)
  assert.deepEqual([(await read(one, id)).isSignatory, (await read(one, id)).approvalsNeeded], [true, 1])
  assert.equal((await veto(one, id)).statusCode, 204)
  assert.deepEqual(errorOf(await veto(one, id)), [409, 'no_reset'])
  world.pass(14 * days)
  await assert.rejects(completeReset(council, owner), /no_reset/)
})

test('CNC-22 only an owner requests and completes a reset, by signed acts, and only signatories veto it', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'admin', 'viewer')
  const [admin, viewer] = members
  const path = `/organizations/${id}/council/reset` as const
  assert.deepEqual(errorOf(await ask(admin, `POST ${path}`)), [403, 'insufficient_scope'])
  assert.deepEqual(errorOf(await ask(owner, `POST ${path}`)), [403, 'signed_action_required'])
  await requestReset(council, owner)
  for (const other of [viewer, await createSigner(world)])
    assert.deepEqual(errorOf(await veto(other, id)), [404, 'organization_not_found'])
  world.pass(14 * days)
  assert.deepEqual(errorOf(await ask(admin, `POST ${path}/completion`)), [403, 'insufficient_scope'])
  await reauthenticate(world, owner)
  assert.deepEqual(errorOf(await ask(owner, `POST ${path}/completion`)), [403, 'signed_action_required'])
  assert.equal((await veto(admin, id)).statusCode, 204)
})

/** Gives a user a verified e-mail address. */
async function setEmail({ headers, identityId }: Signatory, email: string): Promise<string> {
  const identity = `/api/identities/${identityId}/email`
  await world.api.inject({ method: 'POST', url: identity, headers, payload: { email } })
  const code = codeIn(await mailbox.take())
  await world.api.inject({ method: 'POST', url: `${identity}/verify`, headers, payload: { code } })
  return email
}

test('CNC-23 PEO-43 signatories and owners get mails about a reset, approvers about a proposal', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'viewer')
  const [one, two, viewer] = members
  const all = [await setEmail(owner, 'olga@mail.example'), await setEmail(one, 'one@mail.example')]
  await setEmail(viewer, 'viewer@mail.example')
  // Nothing goes to an address that an operator set, until its user verifies it.
  await editAddress(world, two.identityId, 'two@mail.example')
  await mailbox.take()
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  await requestReset(council, owner)
  const mails = [await mailbox.take(), await mailbox.take()]
  assert.deepEqual(mails.flatMap(({ to }) => to).toSorted(), all.toSorted())
  assert.match(mails[0]?.text ?? '', new RegExp(`/organizations/${id}/council`))
  assert.equal((await veto(two, id)).statusCode, 204)
  assert.deepEqual([await mailbox.take(), await mailbox.take()].flatMap(({ to }) => to).toSorted(), all.toSorted())
  const twoAddress = await setEmail(two, 'two@mail.example')
  await council.propose(owner, 'POST /council/signatories', { identityId: one.identityId })
  assert.deepEqual((await mailbox.take()).to, [twoAddress])
  assert.equal(mailbox.count(), 0)
})

test('CNC-24 a request needs the larger number of approvals, of its creation or its completion', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const [one, two] = members
  const shop = signingRequesterOf(world, await world.app())
  const answer = async (requestId: string, person: Signatory, role: 'sign' | 'approve') =>
    (await approverOf(world, person).give(requestId, { role })).json().status
  const { requestId } = (await shop.requestOf(id)).json()
  assert.equal(await answer(requestId, owner, 'sign'), 'pending')
  await council.decide({ by: owner, others: [one] }, 'PATCH', { approvalsNeeded: 2 })
  assert.equal(await answer(requestId, one, 'approve'), 'pending')
  assert.equal(await answer(requestId, two, 'approve'), 'signed')
  const later = (await shop.requestOf(id)).json()
  await council.decide({ by: owner, others: [one, two] }, 'PATCH', { approvalsNeeded: 1 })
  assert.equal(await answer(later.requestId, owner, 'sign'), 'pending')
  assert.equal(await answer(later.requestId, one, 'approve'), 'pending')
  assert.equal(await answer(later.requestId, two, 'approve'), 'signed')
})

test('CNC-25 a request from before a council is completed by its signatories alone', async () => {
  const { id, owner, members, grant, council } = await createSignatories(world, 0, 'signer', 'signer', 'viewer')
  const [one, two, viewer] = members
  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.requestOf(id)).json()
  await council.decide({ by: owner, others: [one, two] }, 'PATCH', { approvalsNeeded: 1 })
  await grant(viewer.memberId, { role: 'signer' })
  const refused = await approverOf(world, viewer).start(requestId, 'sign')
  assert.deepEqual(errorOf(refused), [403, 'insufficient_scope'])
  assert.equal((await approverOf(world, owner).give(requestId, { role: 'sign' })).json().status, 'pending')
  assert.equal((await approverOf(world, one).give(requestId, { role: 'approve' })).json().status, 'signed')
})

test('CNC-26 a receipt tells since when each signer was in the council', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer')
  const founded = world.now().toISOString()
  world.pass(60)
  const newcomer = await createSigner(world)
  const invited = await ask(owner, `POST /organizations/${id}/invitations`, { handle: newcomer.handle, role: 'signer' })
  await ask(newcomer, `POST /invitations/${invited.json().token}/accept`, { identityId: newcomer.identityId })
  await council.decide({ by: owner, others: members }, 'POST /council/signatories', { identityId: newcomer.identityId })
  const admitted = world.now().toISOString()
  world.pass(60)
  const { signatures } = await (await receiptOf(id, owner, [newcomer])).read()
  const admittedAt = Object.fromEntries(signatures.map((signature) => [signature.identityId, signature.admittedAt]))
  assert.deepEqual(admittedAt, { [owner.identityId]: founded, [newcomer.identityId]: admitted })
})

test('CNC-27 a deleted account leaves the council, whose number of approvals stays', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  const [one] = members
  const gone = await world.api.inject({ method: 'DELETE', url: '/api/account', headers: one.headers })
  assert.equal(gone.statusCode, 204, gone.body)
  const { approvalsNeeded, signatories } = await read(owner, id)
  assert.deepEqual([approvalsNeeded, signatories.length], [1, 2])
})
