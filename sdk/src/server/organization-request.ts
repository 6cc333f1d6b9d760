import { CountersignError } from '../shared/error.ts'
import type { Operations } from '../shared/api-types.ts'
import { verifySignature } from './signature.ts'
import {
  postSigningRequest,
  requireApproval,
  signingPageUrl,
  unexpected,
  pollStatus,
  type App,
  type WaitOptions,
} from './signing-request.ts'

type Opening = Operations['POST /api/signing/request']['body']
type Status = Operations['GET /api/signing/request/{requestId}/status']['answer']

export type NewOrganizationRequest = Omit<Opening, 'clientId' | 'clientSecret' | 'identityId' | 'organizationId'> & {
  /** The organization that should sign: the `organization.id` of a token. */
  organizationId: string
}

/** A request to an organization. It can be stored as JSON, and awaited by another process. */
export type OrganizationRequest = {
  requestId: string
  organizationId: string
  payload: string
  /** Number of approvals in addition to the signature. Results with fewer are rejected. */
  approvalsNeeded: number
  expiresAt: string
  /** The page on which members sign and approve. */
  signingUrl: string
}

/** A member's signature: for the organization, or as an approval. */
export type MemberSignature = NonNullable<Status['signatures']>[number]

/** Outcome of a request to an organization. All signatures in it have been verified. */
export type OrganizationOutcome =
  | {
      status: 'signed'
      requestId: string
      organizationId: string
      payload: string
      /** Each with its `approval`, if the member approved more than the text. */
      signatures: MemberSignature[]
      resolvedAt: string
      /** What the outcome does not prove: `no_approval` if a member signed the text alone. */
      unproved: 'no_approval'[]
    }
  | { status: 'denied'; requestId: string; organizationId: string }
  | { status: 'expired'; requestId: string; organizationId: string }

/**
 * Asks an organization to sign a text. Not retried automatically, because a request that was lost on the way back would
 * be created twice.
 */
export async function createOrganizationRequest(
  app: App,
  requested: NewOrganizationRequest,
): Promise<OrganizationRequest> {
  const { requestId, expiresAt, organization } = await postSigningRequest(app, requested)
  const { organizationId, payload } = requested
  if (organization?.id !== organizationId) throw unexpected('The request was created for another organization.')
  const { approvalsNeeded } = organization
  return { requestId, organizationId, payload, approvalsNeeded, expiresAt, signingUrl: signingPageUrl(app, requestId) }
}

/**
 * Waits for the outcome, as for the signature of a user. Verifies the signatures over the requested text: one of a
 * signing member, and the required number of approvals by other members. Throws `invalid_signature` if there are fewer,
 * and `invalid_approval` for an approval of anything but this request.
 */
export async function waitForOrganizationSignature(
  app: App,
  request: OrganizationRequest,
  waiting: WaitOptions,
): Promise<OrganizationOutcome> {
  const { status, signatures = [], resolvedAt = '' } = await pollStatus(app, request, waiting)
  const { requestId, organizationId, payload } = request
  if (status !== 'signed') return { status, requestId, organizationId }
  if (!isEnough(request, signatures)) throw new CountersignError(notSigned)
  for (const { approval, identityId, memberId, role, publicKey } of signatures) {
    const { approvalsNeeded, expiresAt } = request
    const organization = { id: organizationId, approvalsNeeded, memberId }
    const expected = { requestId, identityId, role, organization, payload, publicKey, expiresAt }
    if (approval) requireApproval(app, approval, expected)
  }
  const isApproved = signatures.every(({ approval }) => approval !== undefined)
  const unproved: 'no_approval'[] = isApproved ? [] : ['no_approval']
  return { status, requestId, organizationId, payload, signatures, resolvedAt, unproved }
}

function isEnough({ payload, approvalsNeeded }: OrganizationRequest, signatures: MemberSignature[]): boolean {
  const approvals = signatures.filter(({ role }) => role === 'approve').length
  const signed = signatures.filter(({ role }) => role === 'sign').length
  const isEachAnother = (['identityId', 'memberId', 'publicKey'] as const).every(
    (name) => new Set(signatures.map((each) => each[name])).size === signatures.length,
  )
  if (signed === 0 || approvals < approvalsNeeded || signed + approvals < signatures.length) return false
  if (!isEachAnother) return false
  return signatures.every(({ signature, publicKey }) => verifySignature({ payload, signature, publicKey }))
}

const notSigned = {
  code: 'invalid_signature',
  description: 'The service reports an organization signature, but too few member signatures verify.',
}
