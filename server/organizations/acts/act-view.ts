import type { Act } from '@countersign/protocol/organizations/acts'
import type { ServerContext } from '#platform/module/services.ts'
import { type OwnAct, type Requested, openRequest, readStatement, requireOwnAct, startedOf } from './act.ts'
import { requireProposal } from './proposals/proposal.ts'
import { toSecretSalt } from './request-content.ts'

/**
 * Gets an act for the page that shows it. Throws `act_not_found`, `proposal_not_found` if its proposal has ended, and
 * like `requireMember`.
 */
export async function getAct(
  kernel: ServerContext,
  own: OwnAct,
  schemaOf: (endpoint: string) => Requested['endpoint']['schema'],
  now: Date,
): Promise<Act> {
  const act = await requireOwnAct(kernel, own, now)
  const { role } = readStatement(act.statement)
  const { approvalsNeeded, action } = act
  const view = { ...startedOf(act), role, action, approvalsNeeded, proposal: await proposalOf(kernel, act, now) }
  // Who approves a secret sees its commitment, and does not know the secret.
  if (role === 'approve') return view
  const { content, secretSalt } = await openRequest(kernel, act)
  return { ...view, ...toSecretSalt(schemaOf(act.endpoint), content, Buffer.from(secretSalt, 'base64')) }
}

type OfProposal = Pick<Awaited<ReturnType<typeof requireOwnAct>>, 'organizationId' | 'proposalId'>

async function proposalOf({ db }: ServerContext, { organizationId, proposalId }: OfProposal, now: Date) {
  if (proposalId === null) return null
  const { statement, handle, displayName } = await requireProposal(db, { organizationId, proposalId }, now)
  return { proposalId, statement, proposedBy: { handle, displayName } }
}
