import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { type OrganizationId, asId } from '@countersign/protocol/ids'
import type { Council } from '@countersign/protocol/organizations/council'
import { limits } from '@countersign/protocol/formats/limits'
import { businessOf, councilOf } from '#testing/council.ts'
import { flowOf, linkAs, newClaims, openEnterprise, scimUser, type Enterprise } from '#testing/enterprise.ts'
import { sibling } from '#testing/operators.ts'
import { businessRequest, join, membersOf } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, signingRequesterOf } from '#testing/signer.ts'

let enterprise: Enterprise
let world: Enterprise['world']
before(async () => {
  enterprise = await openEnterprise()
  ;({ world } = enterprise)
})
after(() => enterprise.close())

type Answer = { statusCode: number; json: () => { error?: string } }
const errorOf = (answer: Answer) => [answer.statusCode, answer.json().error]

test('CNC-28 a member whom a directory names as signer is no signatory', async () => {
  const owner = await createSigner(world)
  const company = await enterprise.organization(owner)
  const { organizationId } = company
  const domain = `${randomUUID()}.example`
  await enterprise.verifyDomain(company, domain)
  const { connectionId } = await enterprise.connect(company, { domains: [domain] })
  const directory = await enterprise.provision(company, connectionId)
  const other = await createSigner(world)
  await join(world, { id: organizationId, owner: { headers: await owner.signIn() }, role: 'signer' }, other)
  const council = councilOf(businessOf(world), organizationId)
  await council.decide({ by: owner, others: [other] }, 'PATCH', { approvalsNeeded: 1 })

  const claims = newClaims({ email: `${randomUUID()}@${domain}` })
  const user = scimUser({ userName: randomUUID(), externalId: claims.sub, roles: [{ value: 'signer' }] })
  assert.equal((await directory.ask('POST', '/Users', user)).statusCode, 201)
  const named = await createSigner(world)
  const browser = enterprise.browser()
  browser.bring(named)
  const flowId = flowOf(await browser.signIn(connectionId, claims))
  assert.equal((await linkAs(browser, flowId, named.identityId)).statusCode, 200)
  const members = await membersOf(world, organizationId, owner)
  assert.equal(members.find(({ identityId }) => identityId === named.identityId)?.role, 'signer')

  const shop = signingRequesterOf(world, await world.app())
  const { requestId } = (await shop.requestOf(organizationId)).json()
  assert.deepEqual(errorOf(await named.approve(requestId, named.pair.sign('Pay 10 €'))), [403, 'insufficient_scope'])
})

test('CNC-29 a council has at most a hundred signatories', async () => {
  const { id, owner, council } = await createSignatories(world, 0)
  for (let count = 0; count < limits.signatoriesMax; count += 1) {
    const { identityId } = await world.person()
    await world.db
      .insertInto('organization_member')
      .values({
        organization_id: asId<OrganizationId>(id),
        member_id: randomUUID(),
        identity_id: identityId,
        role: 'signer',
        scopes: ['read', 'sign', 'approve'],
        signing_authority: true,
        joined_at: world.now(),
      })
      .execute()
  }
  await assert.rejects(council.start(owner, 'PATCH', { approvalsNeeded: 1 }), /too_many_signatories/)
})

test('CNC-30 a proposal is done once, also by two requests at once', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(members[0], proposalId)
  const act = `POST /organizations/${id}/proposals/${proposalId}/act` as const
  const [one, two] = [
    (await businessRequest(world, owner, act)).json(),
    (await businessRequest(world, owner, act)).json(),
  ]
  const answers = await Promise.all([council.tryAct(owner, one), council.tryAct(owner, two)])
  const [done, refused] = answers.toSorted(([a], [b]) => Number(a) - Number(b))
  assert.deepEqual(done, [200, undefined])
  assert.ok([404, 409].includes(Number(refused?.[0])), JSON.stringify(refused))
})

test('CNC-30 an act that runs into the suspension of its approver is done before it, or not at all', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one] = members
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(one, proposalId)
  const act = (await businessRequest(world, owner, `POST /organizations/${id}/proposals/${proposalId}/act`)).json()
  const [done, left] = await Promise.all([
    council.tryAct(owner, act),
    businessRequest(world, one, `DELETE /organizations/${id}/members/${one.memberId}`),
  ])
  assert.equal(left.statusCode, 204, left.body)
  const read = (await businessRequest(world, owner, `GET /organizations/${id}/council`)).json().council
  assert.equal(read.approvalsNeeded, done?.[0] === 200 ? 2 : 1)
  if (done?.[0] !== 200) assert.deepEqual(done, [409, 'approvals_missing'])
})

test('CNC-30 an act that was started needs the approvals of signatories who are still in force', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one] = members
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(one, proposalId)
  const act = (await businessRequest(world, owner, `POST /organizations/${id}/proposals/${proposalId}/act`)).json()
  const left = await businessRequest(world, one, `DELETE /organizations/${id}/members/${one.memberId}`)
  assert.equal(left.statusCode, 204, left.body)
  const refused = await council.tryAct(owner, act)
  assert.deepEqual(refused, [409, 'approvals_missing'])
  const read = await businessRequest(world, owner, `GET /organizations/${id}/council`)
  assert.equal(read.json().council.approvalsNeeded, 1)
})

test('CNC-55 an approval that is given after an act was started does not count for that act', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer', 'signer')
  const [one, two] = members
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(one, proposalId)
  const act = (await businessRequest(world, owner, `POST /organizations/${id}/proposals/${proposalId}/act`)).json()
  const left = await businessRequest(world, one, `DELETE /organizations/${id}/members/${one.memberId}`)
  assert.equal(left.statusCode, 204, left.body)
  world.pass(1)
  await council.approve(two, proposalId)
  const refused = await council.tryAct(owner, act)
  assert.deepEqual(refused, [409, 'approvals_missing'])
  await council.complete(owner, proposalId)
  const read = await businessRequest(world, owner, `GET /organizations/${id}/council`)
  assert.equal(read.json().council.approvalsNeeded, 2)
})

test('OSG-05 another identity of a user replaces their signatory once that is suspended, and not before', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const [one, two] = members
  const twin = await sibling(world, one)
  await join(world, { id, owner, role: 'signer' }, twin)
  const admit = ({ identityId }: { identityId: string }) => ['POST /council/signatories', { identityId }] as const
  await assert.rejects(council.start(owner, ...admit(twin)), /already_signatory/)
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${one.identityId}`))
  const [restoring, replacing] = [
    await council.propose(owner, ...admit(one)),
    await council.propose(owner, ...admit(twin)),
  ]
  for (const { proposalId } of [restoring, replacing]) await council.approve(two, proposalId)
  await council.complete(owner, replacing.proposalId)
  await assert.rejects(council.complete(owner, restoring.proposalId), /already_signatory/)
  const read = await businessRequest(world, owner, `GET /organizations/${id}/council`)
  const { signatories } = read.json<{ council: Council }>().council
  assert.deepEqual(
    signatories.map(({ identityId, suspendedAt }) => [identityId, suspendedAt]).toSorted(),
    [owner, two, twin].map(({ identityId }) => [identityId, null]).toSorted(),
  )
})
