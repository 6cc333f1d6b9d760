import { CountersignError } from '../shared/error.ts'
import type { Operations } from '../shared/api-types.ts'
import { verifySignature } from './signature.ts'
import { askFor, pageOf, unexpected, watch, type App, type Waiting } from './signing-request.ts'

type Opening = Operations['POST /api/signing/request']['body']
type Status = Operations['GET /api/signing/request/{requestId}/status']['answer']

export type NewOrganizationRequest = Omit<Opening, 'clientId' | 'clientSecret' | 'identityId' | 'organizationId'> & {
  /** The organization that should sign: the `organization.id` of a token. */
  organizationId: string
}

/** A request to an organization. It may be kept as JSON, and waited for by another process. */
export type OrganizationRequest = {
  requestId: string
  organizationId: string
  payload: string
  /** How many members must approve beside whoever signs. Fewer will not be believed. */
  approvalsNeeded: number
  expiresAt: string
  /** The page on which members sign and approve. */
  signingUrl: string
}

/** What a member has signed: as the organization, or to approve. */
export type MemberSignature = NonNullable<Status['signatures']>[number]

/** What became of a request to an organization. All signatures that are here were verified. */
export type OrganizationOutcome =
  | {
      status: 'signed'
      requestId: string
      organizationId: string
      payload: string
      signatures: MemberSignature[]
      resolvedAt: string
    }
  | { status: 'denied'; requestId: string; organizationId: string }
  | { status: 'expired'; requestId: string; organizationId: string }

/** Asks an organization to sign a text. Not tried again by itself: it may have been done, and would be asked twice. */
export async function createOrganizationRequest(
  app: App,
  wanted: NewOrganizationRequest,
): Promise<OrganizationRequest> {
  const { requestId, expiresAt, organization } = await askFor(app, wanted)
  const { organizationId, payload } = wanted
  if (organization?.id !== organizationId) throw unexpected('The request was opened for another organization.')
  const { approvalsNeeded } = organization
  return { requestId, organizationId, payload, approvalsNeeded, expiresAt, signingUrl: pageOf(app, requestId) }
}

/**
 * Waits as for the signature of a person. The signatures are verified here, over the text that was asked for: one of a
 * member who signs, and of as many others who approve as it took. Throws `invalid_signature` for any less.
 */
export async function waitForOrganization(
  app: App,
  asked: OrganizationRequest,
  waiting: Waiting,
): Promise<OrganizationOutcome> {
  const { status, signatures = [], resolvedAt = '' } = await watch(app, asked, waiting)
  const { requestId, organizationId, payload } = asked
  if (status !== 'signed') return { status, requestId, organizationId }
  if (!isEnough(asked, signatures)) throw new CountersignError(notSigned)
  return { status, requestId, organizationId, payload, signatures, resolvedAt }
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
  description: 'The service says that the organization has signed, but not with enough signatures of this text.',
}
