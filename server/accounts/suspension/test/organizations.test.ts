import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { activate, sibling, suspend } from '#testing/operators.ts'
import { businessRequest, createOrganization, join } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { signingRequesterOf } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]

for (const end of ['activation', 'until'] as const) {
  /** Suspends a member, and lets the suspension end. */
  const suspendAndReturn = async (person: Person) => {
    const until = new Date(world.now().getTime() + 60_000).toISOString()
    await suspend(world, person, end === 'until' ? { until } : {})
    return async () => {
      if (end === 'until') world.pass(60)
      else await activate(world, person)
    }
  }

  test(`SUS-01 what a suspended member signed for an organization never counts, also after ${end}`, async () => {
    const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
    const [signer, approver] = members
    const shop = signingRequesterOf(world, await world.app())
    const request = async (payload: string): Promise<string> => (await shop.requestOf(id, { payload })).json().requestId
    const [signed, approved, complete] = [await request('Pay 1 €'), await request('Pay 2 €'), await request('Pay 3 €')]
    await signer.sign(signed, signer.pair.sign('Pay 1 €'))
    await signer.approve(approved, signer.pair.sign('Pay 2 €'))
    await owner.sign(complete, owner.pair.sign('Pay 3 €'))
    const done = await signer.approve(complete, signer.pair.sign('Pay 3 €'))
    assert.equal(done.json().status, 'signed', done.body)
    const before = (await shop.status(complete)).json()

    const comeBack = await suspendAndReturn(signer)
    for (const hasEnded of [false, true]) {
      if (hasEnded) await comeBack()
      const progress = async (requestId: string) => (await shop.status(requestId)).json()
      assert.equal((await progress(signed)).organization.isSigned, false)
      assert.equal((await progress(approved)).organization.approvals, 0)
      assert.deepEqual(await progress(complete), before, 'a completed signature stays')
    }
    assert.equal((await approver.approve(signed, approver.pair.sign('Pay 1 €'))).json().status, 'pending')
    assert.equal((await owner.sign(approved, owner.pair.sign('Pay 2 €'))).json().status, 'pending')

    const again = await signer.signIn()
    const url = `/api/signing/requests/${signed}/sign`
    const payload = { signature: signer.pair.sign('Pay 1 €') }
    const answer = await world.api.inject({ method: 'POST', url, headers: again, payload })
    assert.equal(answer.json().status, 'signed', answer.body)
  })

  test(`SUS-02 what a suspended member approved in a council never counts, also after ${end}`, async () => {
    const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
    const [approver, other] = members
    const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
    await council.approve(approver, proposalId)
    const proposals = `/organizations/${id}/proposals` as const
    const act = () => businessRequest(world, owner, `POST ${proposals}/${proposalId}/act`)
    const started = (await act()).json()
    const comeBack = await suspendAndReturn(approver)
    for (const hasEnded of [false, true]) {
      if (hasEnded) await comeBack()
      const [{ approvals, mayComplete }] = (await businessRequest(world, owner, `GET ${proposals}`)).json().proposals
      assert.deepEqual([approvals, mayComplete], [[], false])
      assert.deepEqual(errorOf(await act()), [409, 'approvals_missing'])
      assert.deepEqual(await council.tryAct(owner, started), [409, 'approvals_missing'])
    }
    await council.approve(other, proposalId)
    await council.complete(owner, proposalId)
  })
}

test('SUS-05 an invitation by a suspended member is void until they are active again', async () => {
  const owner = await world.person()
  const { id } = await createOrganization(world, owner)
  const admin = await world.person()
  await join(world, { id, owner, role: 'admin' }, admin)
  const invite = async (by: Person, invitee: Person): Promise<{ token: string; invitationId: string }> => {
    const payload = { handle: invitee.handle, role: 'member' }
    const { token, invitation } = (
      await businessRequest(world, by, `POST /organizations/${id}/invitations`, payload)
    ).json()
    return { token, invitationId: invitation.invitationId }
  }
  const [first, second] = [await world.person(), await world.person()]
  const [byLink, byList] = [await invite(admin, first), await invite(admin, second)]
  const accept = () =>
    businessRequest(world, first, `POST /invitations/${byLink.token}/accept`, { identityId: first.identityId })
  const preview = () => businessRequest(world, first, `GET /invitations/${byLink.token}`)
  const own = async () =>
    (await world.api.inject({ url: '/api/account/invitations', headers: second.headers })).json().invitations
  assert.equal((await own()).length, 1)

  await suspend(world, admin)
  assert.deepEqual(await own(), [])
  for (const refused of [await preview(), await accept()])
    assert.deepEqual(errorOf(refused), [404, 'invitation_not_found'])
  const path = `/organizations/${id}/invitations/${byList.invitationId}/accept` as const
  const joined = await businessRequest(world, second, `POST ${path}`, { identityId: second.identityId })
  assert.deepEqual(errorOf(joined), [404, 'invitation_not_found'])

  await activate(world, admin)
  assert.equal((await own()).length, 1)
  assert.equal((await preview()).statusCode, 200)
  assert.equal((await accept()).statusCode, 201)
})

test('SUS-05 an invitation stays valid while a sibling of its author alone is suspended', async () => {
  const owner = await world.person()
  const other = await sibling(world, owner)
  const { id } = await createOrganization(world, owner)
  const invitee = await world.person()
  const payload = { handle: invitee.handle, role: 'member' }
  const made = await businessRequest(world, owner, `POST /organizations/${id}/invitations`, payload)
  await suspend(world, other, { scope: 'identity' })
  assert.equal((await businessRequest(world, invitee, `GET /invitations/${made.json().token}`)).statusCode, 200)
})
