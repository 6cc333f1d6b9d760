import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { Secret } from '#platform/crypto/secret.ts'
import { reencryptProposals } from '#organizations/acts/proposals/proposal.ts'
import { businessOf, councilOf } from '#testing/council.ts'
import { businessRequest, createOrganization, join } from '#testing/organization.ts'
import { createSignatories } from '#testing/signatories.ts'
import { createSigner, newSigningPair } from '#testing/signer.ts'
import { createWorld, type Person, type TestWorld } from '#testing/world.ts'

let world: TestWorld
before(async () => {
  world = await createWorld()
})
after(() => world.close())

/** Adds another identity with a signing key to the account of a signer, who then acts as this identity. */
async function createSecondIdentity(signer: Awaited<ReturnType<typeof createSigner>>) {
  const { headers } = signer
  const post = async (url: string, payload: object) => {
    const answer = await world.api.inject({ method: 'POST', url, headers, payload })
    assert.equal(answer.statusCode, 201, answer.body)
    return answer.json()
  }
  const handle = `second-${randomUUID().slice(0, 8)}`
  const { identityId } = await post('/api/identities', { handle, displayName: 'Second' })
  const pair = newSigningPair()
  await post(`/api/signing/keys/${identityId}`, { publicKey: pair.publicKey, encryptedPrivateKey: 'a.b.c.d.e' })
  return { ...signer, handle, identityId, pair }
}

test('CNC-50 an owner founds a council as any of their identities that are members', async () => {
  const first = await createSigner(world)
  const { id } = await createOrganization(world, first)
  const second = await createSecondIdentity(first)
  await join(world, { id, owner: first, role: 'owner' }, second)
  const other = await createSigner(world)
  await join(world, { id, owner: first, role: 'signer' }, other)
  const council = councilOf(businessOf(world), id)
  for (const owner of [second, first]) {
    const started = await council.start(owner, `PATCH ?identity_id=${owner.identityId}`, { approvalsNeeded: 1 })
    const { body } = await businessOf(world)(owner, `POST /organizations/${id}/acts/${started.actId}/proposal`)
    const { proposalId } = (body as { proposal: { proposalId: string } }).proposal
    await council.approve(other, proposalId)
    await council.complete(owner, proposalId)
    const { signatories } = (await businessRequest(world, owner, `GET /organizations/${id}/council`)).json().council
    const ids = signatories.map(({ identityId }: { identityId: string }) => identityId)
    assert.deepEqual(ids.toSorted(), [owner.identityId, other.identityId].toSorted())
    await council.decide({ by: owner, others: [other] }, `PATCH ?identity_id=${owner.identityId}`, {
      approvalsNeeded: 0,
    })
  }
})

test('CNC-51 the operator can replace SECRET_KEY while a proposal is open', async () => {
  const { id, owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  const roots = ['one', 'two'].map((name) => new Secret(`${name}-root-that-is-at-least-32-characters`))
  const context = `organization act ${proposalId}`
  const read = async () => {
    const found = await world.db
      .selectFrom('organization_proposal')
      .select('sealed_request')
      .where('proposal_id', '=', proposalId)
      .executeTakeFirstOrThrow()
    return found.sealed_request
  }
  const write = (sealed: string) =>
    world.db
      .updateTable('organization_proposal')
      .set({ sealed_request: sealed })
      .where('proposal_id', '=', proposalId)
      .execute()
  const text = await world.kernel.keyring.open(context, await read())
  await write(await createKeyring(roots.slice(0, 1)).seal(context, text))
  await reencryptProposals({ db: world.db, keyring: createKeyring(roots.toReversed()) })
  assert.equal(await createKeyring(roots.slice(1)).open(context, await read()), text)
  await write(await world.kernel.keyring.seal(context, text))
  await reencryptProposals(world.kernel)
  await council.approve(members[0], proposalId)
  await council.complete(owner, proposalId)
  const { approvalsNeeded } = (await businessRequest(world, owner, `GET /organizations/${id}/council`)).json().council
  assert.equal(approvalsNeeded, 2)
})

test('CNC-52 no admin suspends a signatory, no owner by the session alone, and every signatory can leave', async () => {
  const { id, owner, members, grant } = await createSignatories(world, 1, 'admin', 'signer', 'signer', 'viewer')
  const [admin, one, two, viewer] = members
  const path = (memberId: string) => `/organizations/${id}/members/${memberId}` as const
  const errorOf = ({ statusCode, body }: { statusCode: number; body: string }) => [
    statusCode,
    body && JSON.parse(body).error,
  ]
  const refused = async (who: Person, error: string) => {
    const removed = await businessRequest(world, who, `DELETE ${path(one.memberId)}`)
    assert.deepEqual(errorOf(removed), [403, error])
    const demoted = await businessRequest(world, who, `PATCH ${path(one.memberId)}`, { role: 'viewer' })
    assert.deepEqual(errorOf(demoted), [403, error])
  }
  await refused(admin, 'signatory_protected')
  world.pass(301)
  await refused(owner, 'reauthentication_required')
  const { signatories } = (await businessRequest(world, owner, `GET /organizations/${id}/council`)).json().council
  assert.ok(signatories.every(({ suspendedAt }: { suspendedAt: string | null }) => suspendedAt === null))
  // What suspends no one needs the session alone, as without a council.
  assert.equal((await grant(one.memberId, { scopes: ['read', 'sign'] })).statusCode, 200)
  assert.equal((await businessRequest(world, admin, `DELETE ${path(viewer.memberId)}`)).statusCode, 204)
  assert.equal((await businessRequest(world, two, `DELETE ${path(two.memberId)}`)).statusCode, 204)
})

test('CNC-54 a proposal whose request this version does not take any more is refused', async () => {
  const { owner, members, council } = await createSignatories(world, 1, 'signer', 'signer')
  const { proposalId } = await council.propose(owner, 'PATCH', { approvalsNeeded: 2 })
  await council.approve(members[0], proposalId)
  const context = `organization act ${proposalId}`
  const { keyring } = world.kernel
  const stored = await world.db
    .selectFrom('organization_proposal')
    .select('sealed_request')
    .where('proposal_id', '=', proposalId)
    .executeTakeFirstOrThrow()
  const text = await keyring.open(context, stored.sealed_request)
  const former = text.replace('"approvalsNeeded":2', '"approvalsNeeded":"two"')
  assert.notEqual(former, text)
  await world.db
    .updateTable('organization_proposal')
    .set({ sealed_request: await keyring.seal(context, former) })
    .where('proposal_id', '=', proposalId)
    .execute()
  await assert.rejects(council.complete(owner, proposalId), /answered 409.*state_changed/)
})
