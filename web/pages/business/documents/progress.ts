import type { OrganizationDocument } from '@countersign/protocol/signing/organization-documents'

type Counted = Pick<OrganizationDocument, 'isSigned' | 'approvals' | 'approvalsNeeded'>

/** Counts the signatures of a document that count, and those that it needs: one that signs, and the approvals. */
export function progressOf({ isSigned, approvals, approvalsNeeded }: Counted): { count: number; needed: number } {
  return { count: Number(isSigned) + Math.min(approvals, approvalsNeeded), needed: 1 + approvalsNeeded }
}

type Permissions = { maySign: boolean; mayApprove: boolean }

/** Returns whether a document waits for the user: they have not answered, and may give what is missing. */
export function waitsForUser(
  document: Pick<OrganizationDocument, 'answered' | 'status'> & Counted,
  { maySign, mayApprove }: Permissions,
): boolean {
  if (document.status !== 'pending' || document.answered !== null) return false
  return (maySign && !document.isSigned) || (mayApprove && document.approvals < document.approvalsNeeded)
}
