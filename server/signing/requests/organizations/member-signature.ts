import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { ClientId, IdentityId } from '@countersign/protocol/ids'
import type { GivenApproval, SigningStatus } from '@countersign/protocol/signing/signing'
import type { OrganizationSigner } from '#organizations/membership/signatory.ts'
import { keepOrganization } from '#organizations/membership/member.ts'
import { type Acting, type Role, requireEntitled, toApprovable, verifyMemberApproval } from './member-approval.ts'
import { type OrganizationRequestContext, type Surroundings, identityIdOf, requireReader } from './member-view.ts'
import * as answerStore from './organization-answer-store.ts'
import * as store from './organization-request-store.ts'
import { enqueueSigningWebhooks, loadRequestWithExpiry, toProgress } from './organization-request.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { verifies } from '#platform/crypto/ed25519.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { presenceTransaction } from '#accounts/passkeys/assertion.ts'
import { requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { bindSignature, recordApprovedSignature } from '#signing/requests/apps/signature-use.ts'
import {
  type VerifiedApproval,
  consumeApproval,
  errors as approvalErrors,
  requireUnchanged,
  toApprovalColumns,
} from '#signing/requests/approvals/approval.ts'

const errors = defineErrors({
  invalid_signature: [
    400,
    'signature does not verify over the payload with the signing key of any of your member identities.',
  ],
  app_disabled: [409, 'The requesting app has been disabled. The request can only be denied.'],
  request_not_pending: [409, 'The signing request has already been resolved or has expired.'],
  already_approved: [409, 'You have approved this request with a passkey. A signature alone does not replace that.'],
})

/**
 * Stores a member's signature, given as the organization or as an approval; with enough of them the request is signed.
 *
 * A new signature replaces an earlier one of the same user. Without `approval`, the same identity may only replace it
 * in the same role, because a signature stays bound to its first role, also within one request. It never replaces an
 * approval that counts. An approval never replaces the last signature that counts. Throws `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `request_not_pending`, `app_disabled`, `reauthentication_required`,
 * `invalid_signature`, `already_approved`, `approval_changed`, `signature_reused`; with `approval` `invalid_flow`,
 * `invalid_credential`, `invalid_approval`, `rate_limited`.
 */
export async function signForOrganization(
  surroundings: Surroundings & Pick<ServerContext, 'rateLimits'>,
  { signature: written, approval, ...asking }: Acting & { role: Role; signature: string; approval?: GivenApproval },
  now: Date,
) {
  const { db } = surroundings
  const { session } = asking
  const approved = approval && (await verifyMemberApproval(surroundings, { ...asking, given: approval }, now))
  const answering = { ...asking, written, approved }
  const given = await (approved
    ? presenceTransaction(surroundings, { session, ...approved }, now, (tx) =>
        answerAsMember({ ...surroundings, tx }, answering, now),
      )
    : actingTransaction(db, session, (tx) => answerAsMember({ ...surroundings, tx }, answering, now)))
  if (!given) throw await notPending(db, asking, now)
  const { publicKey, completed, organization } = given
  return {
    requestId: asking.requestId,
    status: completed ? ('signed' as const) : ('pending' as const),
    signature: written,
    publicKey,
    ...(completed && { resolvedAt: now.toISOString() }),
    organization,
  }
}

type Answering = Acting & { role: Role; written: string; approved: VerifiedApproval | undefined }

/** Returns undefined if the request is not pending any more. */
async function answerAsMember(
  { tx, config }: Pick<ServerContext, 'config'> & { tx: Transaction },
  { role, written, approved, ...asking }: Answering,
  now: Date,
) {
  const { organizationId, session } = asking
  // Keeps member permissions unchanged and serializes the answers.
  await keepOrganization(tx, organizationId)
  const signatories = await requireReader({ db: tx, config }, asking, now)
  const entitled = requireEntitled(signatories, role)
  const request = await store.lockPendingRequest(tx, asking, now)
  if (!request) return undefined
  if (request.appStatus !== 'active') throw errors.app_disabled()
  if (!approved) requireRecentAuthentication(session, now)
  const own = approved ? entitled.filter(({ identityId }) => identityId === approved.flow.identityId) : entitled
  const answer = await verifySignatureOfMember(tx, own, { payload: request.payload, written })
  if (!answer) throw errors.invalid_signature()
  if (approved) requireUnchanged(config, approved, toApprovable(request, answer, role))
  if (!approved && (await answerStore.hasApproved(tx, asking, session.userId))) throw errors.already_approved()
  const replacesLast = role === 'approve' && (await isLastSignature(tx, asking, signatories))
  const given = { ...answer, role, approval: toApprovalColumns(approved) }
  if (!(await answerStore.upsertMemberSignature(tx, asking, given, now))) throw errors.invalid_signature()
  const { identityId, signature } = answer
  const use = { identityId, clientId: request.clientId, role, organizationId }
  await (approved ? recordApprovedSignature(tx, signature, use) : bindSignature(tx, signature, use))
  if (replacesLast) throw approvalErrors.approval_changed()
  if (approved) await consumeApproval(tx, approved, now)

  const completed = await store.completeRequest(tx, { ...asking, appName: request.appName }, now)
  const action = role === 'sign' ? 'organization.signing.signed' : 'organization.signing.approved'
  await recordAnswer(tx, action, { asking, identityId, request, completes: !!completed }, now)
  if (completed) await enqueueSigningWebhooks(tx, [completed], now)
  const organization = toProgress(request, await answerStore.listMemberSignatures(tx, asking))
  return { publicKey: toBase64(answer.publicKey), completed, organization }
}

/**
 * Returns whether the only signature that counts is one of a user, which an approval of theirs would replace. Of
 * members who have all signed, each may approve instead, as long as another has signed: else enough may have approved
 * while no signature is left.
 */
async function isLastSignature(
  tx: Transaction,
  place: answerStore.OrganizationRequestKey,
  ofUser: OrganizationSigner[],
): Promise<boolean> {
  const signatures = (await answerStore.listMemberSignatures(tx, place)).filter(({ role }) => role === 'sign')
  const others = signatures.filter((each) => !ofUser.some(({ identityId }) => identityId === each.identityId))
  return signatures.length > 0 && others.length === 0
}

/** Finds the member who made a signature, among the members of one user; returns undefined if none did. */
async function verifySignatureOfMember(
  tx: Transaction,
  signatories: OrganizationSigner[],
  { payload, written }: { payload: string; written: string },
) {
  const signature = fromCanonicalBase64(written)
  if (!signature) return undefined
  const message = Buffer.from(payload, 'utf8')
  const signers = await answerStore.listSigners(tx, signatories.map(identityIdOf))
  const signer = signers.find(({ publicKey }) => verifies(message, signature, publicKey))
  const signatory = signatories.find(({ identityId }) => identityId === signer?.identityId)
  return signer && signatory && { ...signer, memberId: signatory.memberId, signature }
}

/**
 * Records that a member denies, which ends the request whatever has been signed. Throws `request_not_found`,
 * `insufficient_scope`, `enterprise_sso_required`, `request_not_pending`.
 */
export async function denyForOrganization({ db, config }: Surroundings, asking: OrganizationRequestContext, now: Date) {
  const denied = await actingTransaction(db, asking.session, async (tx) => {
    await keepOrganization(tx, asking.organizationId)
    const [signatory] = await requireReader({ db: tx, config }, asking, now)
    const request = signatory && (await store.closeRequest(tx, asking, 'denied', now))
    if (!request) return false
    const { identityId } = signatory
    await recordAnswer(tx, 'organization.signing.denied', { asking, identityId, request, completes: true }, now)
    await enqueueSigningWebhooks(tx, [request], now)
    return true
  })
  if (!denied) throw await notPending(db, asking, now)
  return { requestId: asking.requestId, status: 'denied' as const, resolvedAt: now.toISOString() }
}

type Answered = {
  asking: OrganizationRequestContext
  identityId: IdentityId
  request: { clientId: ClientId }
  completes: boolean
}

async function recordAnswer(
  tx: Transaction,
  action: `organization.signing.${'signed' | 'approved' | 'denied'}`,
  { asking: { session, organizationId, requestId }, identityId, request: { clientId }, completes }: Answered,
  now: Date,
): Promise<void> {
  const { userId } = session
  const of = { userId, identityId, clientId, organizationId }
  await recordAuditEvent(tx, { action, actor: 'user', ...of, details: { requestId, completes } }, now)
}

async function notPending(db: Database, place: answerStore.OrganizationRequestKey, now: Date) {
  const { status } = await loadRequestWithExpiry(db, place, now)
  return errors.request_not_pending({ fields: { status: status satisfies SigningStatus } })
}
