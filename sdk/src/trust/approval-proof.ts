import { type ExpectedApproval, findApprovalError } from '@countersign/protocol/signing/approvals'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import type { Approval, Trust } from './trust-settings.ts'

type ApprovedApp = { authUrl: URL; clientId: string; trust: Pick<Trust, 'approvals'> | undefined }
type ApprovedRequest = Omit<ExpectedApproval, 'clientId' | 'issuer' | 'requiresPresence'>

/**
 * Requires that a person has approved this request of the app at this service with a passkey, as the app expects it.
 * Throws `no_approval` if there is none and `trust` requires one, and `invalid_approval` with the difference for
 * another one.
 */
export function requireApproval(
  { authUrl, clientId, trust }: ApprovedApp,
  approval: Approval | undefined,
  expected: ApprovedRequest,
): void {
  if (!approval) {
    if (trust?.approvals === 'required') throw new CountersignError(noApproval)
    return
  }
  const own = { clientId, issuer: authUrl.origin, requiresPresence: true }
  const error = findApprovalError(nodeSuite, approval, { ...expected, ...own })
  if (error === undefined) return
  const description = `The service reports an approval that is not one of this request: ${error}.`
  throw new CountersignError({ code: 'invalid_approval', description })
}

/** Checks the shape of an approval in a response. */
export function isApproval(value: unknown): value is Approval {
  if (!isRecord(value) || typeof value['statement'] !== 'string' || typeof value['signature'] !== 'string') return false
  return value['presence'] === undefined || typeof value['presence'] === 'string'
}

const noApproval = {
  code: 'no_approval',
  description: 'The text is signed, but no approval with a passkey names this request and app.',
}
