import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import { type AuditEvent, recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import * as memberStore from '../member-store.ts'
import * as invitationStore from './invitation-store.ts'
import type { OpenInvitation } from './invitation-store.ts'

/** An organization that the transaction has locked, and who makes the change that ends invitations. */
type Revoking = { organizationId: OrganizationId; by: Revoker }

/** Who is recorded in the audit log. */
export type Revoker = Pick<AuditEvent, 'actor' | 'userId' | 'identityId'>

/** Returns the role and the recipient of an invitation, as the audit log names them. */
export function detailsOf({
  invitationId,
  role,
  identityId,
  email,
}: Pick<OpenInvitation, 'invitationId' | 'role' | 'identityId' | 'email'>) {
  const invitee = identityId === null ? email !== null && { email } : { invitedIdentityId: identityId }
  return { invitationId, role, ...invitee }
}

/** Revokes the open invitations of an organization that match, and records each. */
export async function revokeInvitations(
  tx: Transaction,
  { organizationId, by }: Revoking,
  isRevoked: (invitation: OpenInvitation) => boolean,
  now: Date,
): Promise<void> {
  const revoked = (await invitationStore.listOpenInvitations(tx, organizationId, now)).filter(isRevoked)
  if (revoked.length === 0) return
  const invitationIds = revoked.map(({ invitationId }) => invitationId)
  await invitationStore.deleteInvitations(tx, organizationId, invitationIds)
  for (const invitation of revoked) {
    const details = detailsOf(invitation)
    await recordAuditEvent(tx, { action: 'organization.invitation.revoked', ...by, organizationId, details }, now)
  }
}

/**
 * Returns a check whether an invitation is for one of these members: for its identity, or for an address that the
 * organization knows to be of the member. An invitation to another address of theirs stays open: its end would tell the
 * organization whose address it is.
 */
export async function isForMembers(tx: Transaction, organizationId: OrganizationId, identityIds: IdentityId[]) {
  const emails = await memberStore.listKnownEmails(tx, organizationId, identityIds)
  const mailboxes = new Set(emails.map((email) => email.toLowerCase()))
  return ({ identityId, email }: Pick<OpenInvitation, 'identityId' | 'email'>) =>
    (identityId !== null && identityIds.includes(identityId)) || (email !== null && mailboxes.has(email.toLowerCase()))
}
