import { type OrganizationId, asId } from '@countersign/protocol/ids'
import { limits } from '@countersign/protocol/formats/limits'
import { businessOf, councilOf } from './council.ts'
import { join } from './organization.ts'
import { type RequestClient, times } from './request-client.ts'
import { createSignatories } from './signatories.ts'
import { createSigner } from './signer.ts'
import type { TestWorld } from './world.ts'

/** Makes every request about a council and its proposals; one of each stays open. */
export async function decideByCouncil({ world, send }: RequestClient): Promise<void> {
  const readLog = () => send({}, 'GET /api/transparency/checkpoint')
  await readLog()
  const { id, owner, members } = await createSignatories(world, 1, 'signer', 'signer')
  await readLog()
  const [one, two] = members
  const url = `/api/organizations/${id}` as const
  const council = councilOf(businessOf(world), id)
  await times(async () => council.propose(owner, 'PATCH', { approvalsNeeded: 2 }), 5)
  const newcomer = await createSigner(world)
  await join(world, { id, owner, role: 'signer' }, newcomer)
  const { actId } = await council.start(owner, 'POST /council/signatories', { identityId: newcomer.identityId })
  const { proposal } = await send(owner.headers, `POST ${url}/acts/${actId}/proposal`)
  const approval = await send(one.headers, `POST ${url}/proposals/${proposal.proposalId}/approval`)
  await send(one.headers, `GET ${url}/acts/${approval.actId}`)
  await council.perform(one, approval)
  await send(owner.headers, `GET ${url}/proposals`)
  const act = await send(owner.headers, `POST ${url}/proposals/${proposal.proposalId}/act`)
  await send(owner.headers, `GET ${url}/acts/${act.actId}`)
  await council.perform(owner, act)
  await send(owner.headers, `GET ${url}/council`)
  await council.perform(owner, await council.start(owner, `DELETE /council/signatories/${two.identityId}`))
  const withdrawn = await council.propose(owner, 'POST /council/signatories', { identityId: two.identityId })
  await send(owner.headers, `DELETE ${url}/proposals/${withdrawn.proposalId}`)
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  await send(two.headers, `DELETE ${url}/council/reset`)
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  await council.start(owner, `DELETE /council/signatories/${one.identityId}`)
  const { proposalId } = await council.propose(owner, 'POST /council/signatories', { identityId: two.identityId })
  await council.approve(one, proposalId)
  await endCouncil(world)
  // No leaf of a key waits: there would be many of other users.
  await readLog()
}

/** Ends a council. The time of a world cannot pass here, because too much of other users would be due. */
async function endCouncil(world: TestWorld): Promise<void> {
  const { id, owner } = await createSignatories(world, 1, 'signer')
  const council = councilOf(businessOf(world), id)
  await council.perform(owner, await council.start(owner, 'POST /council/reset'))
  await backdateResetRequest(world, id)
  await council.perform(owner, await council.start(owner, 'POST /council/reset/completion'))
}

/** Fixture: moves the request for a reset fourteen days back. */
async function backdateResetRequest({ db, now }: TestWorld, organizationId: string): Promise<void> {
  const requestedAt = new Date(now().getTime() - limits.councilResetAfterSeconds * 1000)
  await db
    .updateTable('organization_council_reset')
    .set({ requested_at: requestedAt })
    .where('organization_id', '=', asId<OrganizationId>(organizationId))
    .execute()
}
