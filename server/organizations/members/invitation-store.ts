import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewInvitation = {
  organizationId: OrganizationId
  invitationId: string
  tokenSha256: Uint8Array
  identityId: IdentityId | null
  email: string | null
  role: OrganizationRole
  invitedBy: IdentityId
  expiresAt: Date
}

export async function insertInvitation(tx: Transaction, invitation: NewInvitation, now: Date): Promise<void> {
  await tx
    .insertInto('organization_invitation')
    .values({
      organization_id: invitation.organizationId,
      invitation_id: invitation.invitationId,
      token_sha256: invitation.tokenSha256,
      identity_id: invitation.identityId,
      email: invitation.email,
      role: invitation.role,
      invited_by: invitation.invitedBy,
      created_at: now,
      expires_at: invitation.expiresAt,
    })
    .execute()
}

function waiting(db: Database, organizationId: OrganizationId, now: Date) {
  return db
    .selectFrom('organization_invitation')
    .leftJoin('identity', 'identity.identity_id', 'organization_invitation.identity_id')
    .select([
      'invitation_id as invitationId',
      'role',
      'handle',
      'organization_invitation.email as email',
      'organization_invitation.identity_id as identityId',
      'invited_by as invitedBy',
      'token_sha256 as tokenSha256',
      'expires_at as expiresAt',
    ])
    .where('organization_id', '=', organizationId)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
}

export type PendingInvitation = Awaited<ReturnType<typeof listPendingInvitations>>[number]

/** Lists pending invitations, newest first. */
export function listPendingInvitations(db: Database, organizationId: OrganizationId, now: Date) {
  return waiting(db, organizationId, now).orderBy('invitation_id', 'desc').execute()
}

export function findPendingInvitation(db: Database, organizationId: OrganizationId, invitationId: string, now: Date) {
  return waiting(db, organizationId, now).where('invitation_id', '=', invitationId).executeTakeFirst()
}

/** Returns the display name and handle of the inviting identity. */
export function findInviter(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('identity')
    .select(['display_name as displayName', 'handle'])
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
}

type Acceptance = {
  organizationId: OrganizationId
  invitationId: string
  tokenSha256: Uint8Array
  identityId: IdentityId
}

/**
 * Accepts an invitation once, as the invited identity or as one that has verified the address. Returns the role, or
 * undefined if the invitation was accepted or revoked, has expired, or is for another identity.
 */
export function consumeInvitation(tx: Transaction, by: Acceptance & { email: string | null }, now: Date) {
  return tx
    .updateTable('organization_invitation')
    .set({ accepted_at: now })
    .where('organization_id', '=', by.organizationId)
    .where('invitation_id', '=', by.invitationId)
    .where('token_sha256', '=', Buffer.from(by.tokenSha256))
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .where(({ eb, or }) => or([eb('identity_id', '=', by.identityId), eb('email', '=', by.email)]))
    .returning(['role', 'invited_by as invitedBy'])
    .executeTakeFirst()
}

/** Deletes a pending invitation. Returns false if there is none with this id. */
export async function deletePendingInvitation(
  tx: Transaction,
  { organizationId, invitationId }: { organizationId: OrganizationId; invitationId: string },
  now: Date,
): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('organization_invitation')
    .where('organization_id', '=', organizationId)
    .where('invitation_id', '=', invitationId)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numDeletedRows === 1n
}

/** Revokes the pending invitations that these members have created. */
export async function revokeInvitationsBy(
  tx: Transaction,
  organizationId: OrganizationId,
  identityIds: IdentityId[],
): Promise<void> {
  await tx
    .deleteFrom('organization_invitation')
    .where('organization_id', '=', organizationId)
    .where('invited_by', 'in', identityIds)
    .where('accepted_at', 'is', null)
    .execute()
}

/** Deletes the invitations of identities that are being deleted. */
export async function deleteInvitationsOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('organization_invitation').where('identity_id', 'in', identityIds).execute()
}

export async function deleteExpiredInvitations(db: Database, now: Date, batch: number): Promise<number> {
  const ended = db
    .selectFrom('organization_invitation')
    .select(['organization_id', 'invitation_id'])
    .where('expires_at', '<=', now)
    .limit(batch)
    .as('ended')
  const { numDeletedRows } = await db
    .deleteFrom('organization_invitation')
    .using(ended)
    .whereRef('organization_invitation.organization_id', '=', 'ended.organization_id')
    .whereRef('organization_invitation.invitation_id', '=', 'ended.invitation_id')
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
