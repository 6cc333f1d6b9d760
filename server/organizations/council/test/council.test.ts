import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { signedActOf } from '#testing/actor.ts'
import { businessRequest, join, membersOf } from '#testing/organization.ts'
import { createSignatories, type Signatory } from '#testing/signatories.ts'
import { createSigner, newSigningPair, rotationOf, signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]
const ask = (person: Pick<Person, 'headers'>, what: Parameters<typeof businessRequest>[2], payload?: object) =>
  businessRequest(world, person, what, payload)

/** Reads the council as a user sees it. */
async function read(person: Pick<Person, 'headers'>, id: string) {
  const answer = await ask(person, `GET /organizations/${id}/council`)
  assert.equal(answer.statusCode, 200, answer.body)
  return answer.json().council
}

async function proposalsOf(person: Pick<Person, 'headers'>, id: string) {
  return (await ask(person, `GET /organizations/${id}/proposals`)).json().proposals
}

/** Creates a signing request to an organization, and returns its ID. */
async function requestOf(id: string): Promise<string> {
  const answer = await signingRequesterOf(world, await world.app()).requestOf(id)
  assert.equal(answer.statusCode, 201, answer.body)
  return answer.json().requestId
}

/** Signs a request with one person and approves it with another; returns the status of the request. */
async function signAndApprove(requestId: string, signer: Signatory, approvers: Signatory[]): Promise<string> {
  await signer.sign(requestId, signer.pair.sign('Pay 10 €'))
  let status = 'pending'
  for (const approver of approvers) {
    const answer = await approver.approve(requestId, approver.pair.sign('Pay 10 €'))
    status = answer.json().status ?? answer.json().error
  }
  return status
}

test('CNC-01 an admin with further accounts alone signs nothing for an organization with a council', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'admin')
  const [admin] = members
  const puppet = await createSigner(world)
  await join(world, { id, owner: admin, role: 'signer' }, puppet)
  const requestId = await requestOf(id)
  assert.equal(await signAndApprove(requestId, admin, [puppet]), 'insufficient_scope')
  assert.deepEqual(errorOf(await puppet.sign(requestId, puppet.pair.sign('Pay 10 €'))), [403, 'insufficient_scope'])
  assert.deepEqual(errorOf(await puppet.readRequest(requestId)), [403, 'insufficient_scope'])
  assert.equal((await puppet.listRequests()).json().requests.length, 0)
  assert.equal((await owner.approve(requestId, owner.pair.sign('Pay 10 €'))).json().status, 'signed')
})

test('CNC-02 an owner alone neither lowers, raises nor ends the approvals of a council', async () => {
  const { id, owner, members, council, set } = await createSignatories(world, 1, 'signer', 'signer')
  for (const approvalsNeeded of [0, 2]) {
    assert.deepEqual(errorOf(await set({ approvalsNeeded })), [403, 'signed_action_required'])
    const started = await council.start(owner, 'PATCH', { approvalsNeeded })
    const sent = await council.tryAct(owner, started)
    assert.deepEqual(sent, [409, 'approvals_missing'])
  }
  assert.equal((await read(owner, id)).approvalsNeeded, 1)
  await council.decide({ by: owner, others: [members[0]] }, 'PATCH', { approvalsNeeded: 2 })
  assert.equal((await read(owner, id)).approvalsNeeded, 2)
  const lower = await council.propose(owner, 'PATCH', { approvalsNeeded: 0 })
  await council.approve(members[0], lower.proposalId)
  const early = await ask(owner, `POST /organizations/${id}/proposals/${lower.proposalId}/act`)
  assert.deepEqual(errorOf(early), [409, 'approvals_missing'])
  await council.approve(members[1], lower.proposalId)
  await council.complete(owner, lower.proposalId)
  assert.deepEqual([(await read(owner, id)).approvalsNeeded, (await read(owner, id)).signatories], [0, []])
})

test('CNC-03 a council is founded by all members who sign or approve, each by their own acceptance', async () => {
  const { id, owner, members, council, set } = await createSignatories(world, 0, 'signer', 'signer', 'viewer')
  const [one, two, viewer] = members
  assert.equal((await set({ approvalsNeeded: 3 })).json().error, 'too_few_signatories')
  const started = await council.start(owner, 'PATCH', { approvalsNeeded: 1 })
  assert.equal(started.approvalsNeeded, 2)
  // Those who join at the same instant are in the order of their IDs.
  const people = [owner, one, two].map(({ identityId }) => identityId).toSorted()
  assert.deepEqual(started.details['from'], {
    approvalsNeeded: 0,
    signatories: people.map((identityId) => ({ identityId, maySign: true, mayApprove: true })),
  })
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 1 })
  await council.approve(one, proposalId)
  const act = `POST /organizations/${id}/proposals/${proposalId}/act` as const
  assert.deepEqual(errorOf(await ask(owner, act)), [409, 'approvals_missing'])
  const accept = `POST /organizations/${id}/proposals/${proposalId}/approval` as const
  assert.deepEqual(errorOf(await ask(viewer, accept)), [403, 'insufficient_scope'])
  await council.approve(two, proposalId)
  await council.complete(owner, proposalId)
  const { approvalsNeeded, signatories } = await read(viewer, id)
  assert.equal(approvalsNeeded, 1)
  assert.deepEqual(
    signatories.map((each: { identityId: string }) => each.identityId),
    people,
  )
})

test('CNC-04 a member who joins or changes before a founding is done is not in it unseen', async () => {
  const { id, owner, members, council } = await createSignatories(world, 0, 'signer')
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 1 })
  await council.approve(members[0], proposalId)
  await join(world, { id, owner, role: 'signer' }, await createSigner(world))
  const act = (await ask(owner, `POST /organizations/${id}/proposals/${proposalId}/act`)).json()
  const sent = await council.tryAct(owner, act)
  assert.deepEqual(sent, [409, 'state_changed'])
})

test('CNC-05 nobody approves a proposal of their own, also with another identity', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const newcomer = await createSigner(world)
  await join(world, { id, owner, role: 'signer' }, newcomer)
  const { proposalId, mayApprove } = await council.propose(owner, 'POST /council/signatories', {
    identityId: newcomer.identityId,
  })
  assert.equal(mayApprove, false)
  const approve = `POST /organizations/${id}/proposals/${proposalId}/approval` as const
  for (const person of [owner, newcomer])
    assert.deepEqual(errorOf(await ask(person, approve)), [403, 'insufficient_scope'])
  const stranger = await createSigner(world)
  assert.deepEqual(errorOf(await ask(stranger, approve)), [404, 'organization_not_found'])
  await council.approve(members[0], proposalId)
  const [listed] = await proposalsOf(members[1], id)
  assert.deepEqual(
    [listed.approvals.map((each: { identityId: string }) => each.identityId), listed.mayApprove],
    [[members[0].identityId], true],
  )
  assert.equal((await proposalsOf(owner, id))[0].mayComplete, true)
  const done = await council.complete(owner, proposalId)
  assert.equal(done.action, 'organization.signatory.admitted')
  assert.equal(await signAndApprove(await requestOf(id), owner, [newcomer]), 'signed')
})

test('CNC-06 an approval counts for the proposal and the details that it names alone', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const first = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  const second = await council.propose(owner, 'PATCH', { approvalsNeeded: 0 })
  const started = (await ask(members[0], `POST /organizations/${id}/proposals/${first.proposalId}/approval`)).json()
  for (const bent of [
    { details: JSON.parse(second.statement).details },
    { proposal: null },
    { role: 'sign' },
    { nonce: JSON.parse(second.statement).nonce },
  ]) {
    const body = signedActOf(members[0], started.statement, { statement: bent })
    const answer = await ask(members[0], `POST /organizations/${id}/acts/${started.actId}`, body)
    assert.equal(answer.statusCode >= 400, true, JSON.stringify(bent))
  }
  await council.perform(members[0], started)
  const again = await council.tryAct(members[0], started)
  assert.deepEqual(again, [404, 'act_not_found'])
  const done = `POST /organizations/${id}/proposals/${second.proposalId}/act` as const
  assert.deepEqual(errorOf(await ask(owner, done)), [409, 'approvals_missing'])
})

test('CNC-07 a proposal expires after seven days, with its approvals', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(members[0], proposalId)
  world.pass(7 * 24 * 3600)
  const [headers, other] = [await owner.signIn(), await members[1].signIn()]
  assert.deepEqual(await proposalsOf({ headers }, id), [])
  for (const [person, step] of [
    [headers, 'act'],
    [other, 'approval'],
  ] as const) {
    const answer = await ask({ headers: person }, `POST /organizations/${id}/proposals/${proposalId}/${step}`)
    assert.deepEqual(errorOf(answer), [404, 'proposal_not_found'])
  }
})

test('CNC-08 a proposal is not done if what it changes has changed since', async () => {
  const { owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one] = members
  const three = await council.propose(owner, 'PATCH', { approvalsNeeded: 3 })
  const two = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  for (const { proposalId } of [three, two]) for (const each of members) await council.approve(each, proposalId)
  await council.complete(owner, two.proposalId)
  await assert.rejects(council.complete(owner, three.proposalId), /state_changed/)
  assert.ok(one)
})

test('CNC-09 an approval stops counting when its signatory is suspended', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const [one] = members
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(one, proposalId)
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  const done = `POST /organizations/${id}/proposals/${proposalId}/act` as const
  assert.deepEqual(errorOf(await ask(owner, done)), [409, 'approvals_missing'])
  const again = await ask(one, `POST /organizations/${id}/proposals/${proposalId}/approval`)
  assert.deepEqual(errorOf(again), [403, 'insufficient_scope'])
})

test('CNC-09 an approval stops counting when its signatory replaces the key, until one by the new key', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer')
  const [one] = members
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 0 })
  await council.approve(one, proposalId)
  const pair = newSigningPair()
  const rotated = await one.rotate(rotationOf(one.identityId, one.pair, pair))
  assert.equal(rotated.statusCode, 200, rotated.body)
  const done = `POST /organizations/${id}/proposals/${proposalId}/act` as const
  assert.deepEqual(errorOf(await ask(owner, done)), [409, 'approvals_missing'])
  assert.deepEqual((await proposalsOf(owner, id))[0].approvals, [])
  await council.approve({ ...one, pair }, proposalId)
  await council.complete(owner, proposalId)
  assert.equal((await read(owner, id)).approvalsNeeded, 0)
})

test('CNC-10 suspending a signatory lowers no number, and only the council restores them', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const [one, two] = members
  const requestId = await requestOf(id)
  await one.approve(requestId, one.pair.sign('Pay 10 €'))
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  const { approvalsNeeded, signatories } = await read(owner, id)
  assert.equal(approvalsNeeded, 1)
  const suspended = signatories.find((each: { identityId: string }) => each.identityId === one.identityId)
  assert.notEqual(suspended.suspendedAt, null)
  // The approval that was given before does not count any more.
  assert.equal((await owner.sign(requestId, owner.pair.sign('Pay 10 €'))).json().status, 'pending')
  assert.deepEqual(errorOf(await one.approve(requestId, one.pair.sign('Pay 10 €'))), [403, 'insufficient_scope'])
  const restore = ['POST /council/signatories', { identityId: one.identityId }] as const
  const alone = await council.tryAct(owner, await council.start(owner, ...restore))
  assert.deepEqual(alone, [409, 'approvals_missing'])
  await council.decide({ by: owner, others: [two] }, ...restore)
  assert.equal((await one.approve(requestId, one.pair.sign('Pay 10 €'))).json().status, 'signed')
})

test('CNC-11 only an owner suspends a signatory, by a signed act', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'admin', 'signer')
  const [admin, signer] = members
  const path = `DELETE /organizations/${id}/council/signatories/${signer.identityId}` as const
  assert.deepEqual(errorOf(await ask(admin, path)), [403, 'insufficient_scope'])
  assert.deepEqual(errorOf(await ask(owner, path)), [403, 'signed_action_required'])
  const stranger =
    `DELETE /council/signatories/${owner.identityId.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}` as const
  await assert.rejects(council.start(owner, stranger), /signatory_not_found/)
})

test('CNC-12 removing a member, or the last of their permissions, suspends the signatory', async () => {
  const { id, owner, members, grant, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one, two, three] = members
  assert.equal((await ask(owner, `DELETE /organizations/${id}/members/${one.memberId}`)).statusCode, 204)
  assert.equal((await grant(two.memberId, { scopes: ['read'] })).statusCode, 200)
  const isSuspended = async () =>
    Object.fromEntries(
      (await read(owner, id)).signatories.map((each: { identityId: string; suspendedAt: string | null }) => [
        each.identityId,
        each.suspendedAt !== null,
      ]),
    )
  const before = await isSuspended()
  assert.deepEqual([before[one.identityId], before[two.identityId], before[three.identityId]], [true, true, false])
  // Neither a new membership nor the permissions bring them back.
  await join(world, { id, owner, role: 'signer' }, one)
  await grant(two.memberId, { role: 'member' })
  await grant(two.memberId, { role: 'signer' })
  const requestId = await requestOf(id)
  for (const person of [one, two])
    assert.deepEqual(errorOf(await person.approve(requestId, person.pair.sign('Pay 10 €'))), [
      403,
      'insufficient_scope',
    ])
  await council.decide({ by: owner, others: [three] }, 'POST /council/signatories', { identityId: one.identityId })
  assert.equal(await signAndApprove(requestId, owner, [one]), 'signed')
})

test('CNC-13 a signatory may do what the council admitted, and no more by further permissions', async () => {
  const { id, owner, members, grant, council } = await createSignatories(world, 0, 'signer', 'signer')
  const [one, two] = members
  await grant(one.memberId, { scopes: ['read', 'sign'] })
  await council.decide({ by: owner, others: [one, two] }, 'PATCH', { approvalsNeeded: 1 })
  await grant(one.memberId, { scopes: ['read', 'sign', 'approve'] })
  const requestId = await requestOf(id)
  assert.deepEqual(errorOf(await one.approve(requestId, one.pair.sign('Pay 10 €'))), [403, 'insufficient_scope'])
  await council.decide({ by: owner, others: [two] }, 'POST /council/signatories', { identityId: one.identityId })
  assert.equal(await signAndApprove(requestId, owner, [one]), 'signed')
})

test("CNC-14 turning off required signatures and deleting the organization need the council's approvals", async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  await council.perform(owner, await council.start(owner, 'PATCH', { requireSignedActions: true }))
  for (const [what, payload] of [
    ['PATCH', { requireSignedActions: false }],
    ['DELETE', {}],
  ] as const) {
    const started = await council.start(owner, what, payload)
    assert.equal(started.approvalsNeeded, 1)
    const sent = await council.tryAct(owner, started)
    assert.deepEqual(sent, [409, 'approvals_missing'])
  }
  await council.decide({ by: owner, others: [members[0]] }, 'PATCH', { requireSignedActions: false })
  await council.decide({ by: owner, others: [members[0]] }, 'DELETE')
  assert.deepEqual(errorOf(await ask(owner, `GET /organizations/${id}`)), [404, 'organization_not_found'])
})

test('CNC-15 signatures of version 1 approve nothing and replace no approval', async () => {
  const { id, owner, set } = await createSignatories(world, 1, 'signer', 'signer')
  const dryRun = await set({ approvalsNeeded: 0, signedAction: {} })
  const signature = owner.pair.sign(dryRun.json().message)
  const answer = await set({ approvalsNeeded: 0, signedAction: { signature } })
  assert.deepEqual(errorOf(answer), [403, 'signed_action_required'])
  assert.equal((await read(owner, id)).approvalsNeeded, 1)
})

test('CNC-16 an organization has at most twenty open proposals', async () => {
  const { id, owner, council } = await createSignatories(world, 1, 'signer', 'signer')
  for (let count = 0; count < 20; count += 1) await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await assert.rejects(council.propose(owner, 'PATCH', { approvalsNeeded: 2 }), /too_many_proposals/)
  const [{ proposalId }] = await proposalsOf(owner, id)
  const withdraw = `DELETE /organizations/${id}/proposals/${proposalId}` as const
  assert.equal((await ask(owner, withdraw)).statusCode, 204)
  assert.deepEqual(errorOf(await ask(owner, withdraw)), [404, 'proposal_not_found'])
  await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
})

test('CNC-17 only the member who made a proposal, or an owner, withdraws it', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'admin', 'signer')
  const [admin, signer] = members
  const newcomer = await createSigner(world)
  await join(world, { id, owner, role: 'signer' }, newcomer)
  const named = { identityId: newcomer.identityId }
  const first = await council.propose(admin, 'POST /council/signatories', named)
  const withdraw = (person: Signatory, proposalId: string) =>
    ask(person, `DELETE /organizations/${id}/proposals/${proposalId}`)
  assert.deepEqual(errorOf(await withdraw(signer, first.proposalId)), [403, 'insufficient_scope'])
  assert.equal((await withdraw(admin, first.proposalId)).statusCode, 204)
  const second = await council.propose(admin, 'POST /council/signatories', named)
  assert.equal((await withdraw(owner, second.proposalId)).statusCode, 204)
})

test('CNC-18 the trail has an act of a council with its proposal and the approvals', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  await council.decide({ by: owner, others: [members[0]] }, 'PATCH', { approvalsNeeded: 2 })
  const { body } = await ask(owner, `GET /organizations/${id}/trail`)
  const records = body
    .trim()
    .split('\n')
    .map((line: string) => JSON.parse(line))
  const last = records.at(-1)
  const [signed, approved] = last.acts.map(({ statement }: { statement: string }) => JSON.parse(statement))
  assert.deepEqual([signed.role, signed.identityId], ['sign', owner.identityId])
  assert.deepEqual([approved.role, approved.identityId], ['approve', members[0].identityId])
  assert.equal(signed.proposal, approved.proposal)
  assert.equal(JSON.parse(last.proposal).action, 'organization.updated')
})

test('a council is shown to members, and its members are told apart from others', async () => {
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'viewer')
  assert.deepEqual([(await read(owner, id)).isSignatory, (await read(members[1], id)).isSignatory], [true, false])
  assert.equal((await membersOf(world, id, owner)).length, 3)
  assert.deepEqual(errorOf(await ask(await world.person(), `GET /organizations/${id}/council`)), [
    404,
    'organization_not_found',
  ])
})
