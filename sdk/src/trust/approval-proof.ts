import { type ExpectedApproval, findApprovalError } from '@countersign/protocol/signing/approvals'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { isRecord } from '../shared/exchange.ts'
import type { Approval, Trust } from './trust-settings.ts'

/**
 * Requires that the person has approved this request at this service with a passkey, as the app expects it. Throws
 * `no_approval` if there is none, and the code of `findApprovalError` for another one.
 */
export function requireApproval(
  { approvals }: Pick<Trust, 'approvals'>,
  approval: Approval | undefined,
  expected: Omit<ExpectedApproval, 'requiresPresence'>,
): void {
  if (approval === undefined && approvals === 'any') return
  if (approval === undefined) throw new CountersignError(noApproval)
  const error = findApprovalError(nodeSuite, approval, { ...expected, requiresPresence: true })
  if (error) throw new CountersignError({ code: error, description: `The approval is not valid (${error}).` })
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
