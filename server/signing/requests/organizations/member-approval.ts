import type { GivenApproval } from '@countersign/protocol/signing/signing'
import type { OrganizationSigner } from '#organizations/membership/signatory.ts'
import {
  type Approvable,
  type VerifiedApproval,
  beginApproval,
  findApprovalFlow,
  verifyApproval,
} from '#signing/requests/approvals/approval.ts'
import { chooseOwn, identityIdOf, requireReader } from './member-view.ts'
import type { OrganizationRequestContext, Surroundings } from './member-view.ts'
import * as answerStore from './organization-answer-store.ts'
import type { StoredRequest } from './organization-request-store.ts'
import { loadRequestWithExpiry } from './organization-request.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'

const errors = defineErrors({
  invalid_request: [400, "The role for a request to an organization is 'sign' or 'approve'."],
  insufficient_scope: [403, 'Your role does not allow signing or approving for this organization.'],
  app_disabled: [409, 'The requesting app has been disabled. The request can only be denied.'],
  request_not_pending: [409, 'The signing request has already been resolved or has expired.'],
  no_signing_key: [422, 'The identity has no signing key. Create one first.'],
})

export type Role = 'sign' | 'approve'
export type Acting = OrganizationRequestContext & { session: PasskeySession }

/**
 * Starts the approval of a request to an organization, by the member identity with which the request is shown. Throws
 * `invalid_request`, `request_not_found`, `insufficient_scope`, `enterprise_sso_required`, `request_not_pending`,
 * `app_disabled`, `no_signing_key`.
 */
export async function startMemberApproval(
  surroundings: Surroundings,
  { role, ...asking }: Acting & { role: Approvable['role'] },
  now: Date,
) {
  if (role === 'self') throw errors.invalid_request()
  const { request, entitled } = await requireApprovable(surroundings, { ...asking, role }, now)
  const [answers, signers] = [
    await answerStore.listMemberSignatures(surroundings.db, asking),
    await answerStore.listSigners(surroundings.db, entitled.map(identityIdOf)),
  ]
  const own = chooseOwn(entitled, answers, signers)
  if (!own) throw errors.no_signing_key()
  return beginApproval(surroundings, asking.session, toApprovable(request, own, role), now)
}

/** Returns a pending request of an active app, and the memberships with which the user may answer it in a role. */
async function requireApprovable(surroundings: Surroundings, { role, ...asking }: Acting & { role: Role }, now: Date) {
  const entitled = requireEntitled(await requireReader(surroundings, asking, now), role)
  const request = await loadRequestWithExpiry(surroundings.db, asking, now)
  if (request.status !== 'pending') throw errors.request_not_pending({ fields: { status: request.status } })
  if (request.appStatus !== 'active') throw errors.app_disabled()
  return { request, entitled }
}

/** Returns the memberships with which a user may answer in a role. Throws `insufficient_scope`. */
export function requireEntitled(signatories: OrganizationSigner[], role: Role): OrganizationSigner[] {
  const entitled = signatories.filter(({ maySign, mayApprove }) => (role === 'sign' ? maySign : mayApprove))
  if (entitled.length === 0) throw errors.insufficient_scope()
  return entitled
}

type Signer = answerStore.Signer & Pick<OrganizationSigner, 'memberId'>

/** Describes what a member is asked to approve. */
export function toApprovable(request: StoredRequest, signer: Signer, role: Role): Approvable {
  const { organizationId: id, organizationName: name, approvalsNeeded } = request
  return { ...request, ...signer, role, organization: { id, name, memberId: signer.memberId, approvalsNeeded } }
}

/** Verifies the approval of a member, before the transaction that records it. */
export async function verifyMemberApproval(
  surroundings: Surroundings,
  { role, given, ...asking }: Acting & { role: Role; given: GivenApproval },
  now: Date,
): Promise<VerifiedApproval> {
  const { session, requestId } = asking
  const { request, entitled } = await requireApprovable(surroundings, { ...asking, role }, now)
  const { sessionId } = session
  const finding = { flowId: given.flowId, identityIds: entitled.map(identityIdOf), requestId, sessionId, role }
  const flow = await findApprovalFlow(surroundings.db, finding, now)
  const [signer] = await answerStore.listSigners(surroundings.db, [flow.identityId])
  const signatory = entitled.find(({ identityId }) => identityId === flow.identityId)
  if (!signer || !signatory) throw errors.no_signing_key()
  const of = toApprovable(request, { ...signatory, ...signer }, role)
  return verifyApproval(surroundings, session, { flow, of, given })
}
