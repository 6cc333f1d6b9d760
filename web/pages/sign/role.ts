import type { SigningRequest } from '@countersign/protocol/signing/signing'

/** What a person does with their signature: sign, or approve what an organization signs. */
export type Role = 'sign' | 'approve'

/** The one thing that a member can do next: sign as long as nobody has, where they may; otherwise approve. */
export function roleOf({ organization }: Pick<SigningRequest, 'organization'>): Role {
  if (!organization?.mayApprove || organization.approvalsNeeded === 0) return 'sign'
  return organization.maySign && !organization.isSigned ? 'sign' : 'approve'
}
