import type { OrganizationId } from '@countersign/protocol/ids'
import { type AuditEvent, recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
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
