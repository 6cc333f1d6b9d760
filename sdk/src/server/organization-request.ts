import { CountersignError } from '../shared/error.ts'
import type { Operations } from '../shared/api-types.ts'
import { requireApproval } from '../trust/approval-proof.ts'
import { proveKey } from '../trust/key-proof.ts'
import { admitCurrentCheckpoint } from '../trust/log-head.ts'
import { warnWithoutTrust } from '../trust/trust.ts'
import { verifySignature } from './signature.ts'
import {
  postSigningRequest,
  refuseReservedPayload,
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
 * Asks an organization to sign a text. With `trust`, the log continues what was seen before the request exists; which
 * members sign, and with which keys, is known only afterwards. Not retried automatically, because a request that was
 * lost on the way back would be created twice.
 */
export async function createOrganizationRequest(
  app: App,
  requested: NewOrganizationRequest,
): Promise<OrganizationRequest> {
  const { organizationId, payload } = requested
  refuseReservedPayload(payload)
  if (app.trust) await admitCurrentCheckpoint(app.trust.log)
  else warnWithoutTrust()
  const { requestId, expiresAt, organization } = await postSigningRequest(app, requested)
  if (organization?.id !== organizationId) throw unexpected('The request was created for another organization.')
  const { approvalsNeeded } = organization
  return { requestId, organizationId, payload, approvalsNeeded, expiresAt, signingUrl: signingPageUrl(app, requestId) }
}

/**
 * Waits for the outcome, as for the signature of a user. Verifies the signatures over the requested text: one of a
 * signing member, and the required number of approvals by other members. Throws `invalid_signature` if there are fewer,
 * and `invalid_approval` for an approval of anything but this request. With `trust`, the key of each member is proved,
 * and a member without an approval is `no_approval`.
 */
export async function waitForOrganizationSignature(
  app: App,
  request: OrganizationRequest,
  waiting: WaitOptions,
): Promise<OrganizationOutcome> {
  const { trust } = app
  if (!trust) warnWithoutTrust()
  const { status, signatures = [], resolvedAt = '' } = await pollStatus(app, request, waiting)
  const { requestId, organizationId, payload } = request
  if (status !== 'signed') return { status, requestId, organizationId }
  if (!isEnough(request, signatures)) throw new CountersignError(notSigned)
  for (const signature of signatures) await requireApproved(app, request, signature)
  const isApproved = signatures.every(({ approval }) => approval !== undefined)
  const unproved: 'no_approval'[] = isApproved ? [] : ['no_approval']
  return { status, requestId, organizationId, payload, signatures, resolvedAt, unproved }
}

/** Verifies that a member has approved this request in this role. With `trust`, proves the member's key before. */
async function requireApproved(
  app: App,
  { requestId, organizationId, payload, approvalsNeeded, expiresAt }: OrganizationRequest,
  { identityId, memberId, role, publicKey, at, approval }: MemberSignature,
): Promise<void> {
  const { trust } = app
  const keyVersion = trust && (await proveKey(trust, identityId, { publicKey, at, expiresAt })).keyVersion
  const organization = { id: organizationId, approvalsNeeded, memberId }
  const request = { requestId, identityId, role, payload, expiresAt, answeredAt: at, organization }
  requireApproval(app, approval, { ...request, publicKey, keyVersion })
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
