import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { isDistributed, onOneServer } from '#platform/database/distributed/engine.ts'

type NewInvitation = {
  organizationId: OrganizationId
  invitationId: string
  tokenSha256: Uint8Array
  mailTokenSha256: Uint8Array | null
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
      mail_token_sha256: invitation.mailTokenSha256,
      identity_id: invitation.identityId,
      email: invitation.email,
      role: invitation.role,
      invited_by: invitation.invitedBy,
      created_at: now,
      expires_at: invitation.expiresAt,
    })
    .execute()
}

type InvitationFilter = { organizationId: OrganizationId; invitationId?: string }

/** Lists pending invitations, the newest first, with the present names of the invited and the inviting identity. */
async function waiting(db: Database, { organizationId, invitationId }: InvitationFilter, now: Date) {
  const ofOrganization = db
    .selectFrom('organization_invitation')
    .selectAll()
    .where('organization_id', '=', organizationId)
    .$if(invitationId !== undefined, (one) => one.where('invitation_id', '=', invitationId ?? ''))
    // Otherwise the index by end may be used, which has the invitations of all organizations.
    .offset(0)
  const pending = db
    .selectFrom(ofOrganization.as('organization_invitation'))
    .select([
      'invitation_id as invitationId',
      'role',
      'organization_invitation.email as email',
      'organization_invitation.identity_id as identityId',
      'invited_by as invitedBy',
      'token_sha256 as tokenSha256',
      'mail_token_sha256 as mailTokenSha256',
      'organization_invitation.created_at as createdAt',
      'mailed_at as mailedAt',
      'expires_at as expiresAt',
    ])
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('invitation_id', 'desc')
  if (!isDistributed(db))
    return pending
      .leftJoinLateral(
        ({ selectFrom }) =>
          selectFrom('identity')
            .select('identity.handle')
            .whereRef('identity.identity_id', '=', 'organization_invitation.identity_id')
            .offset(0)
            .as('invitee'),
        (join) => join.onTrue(),
      )
      .leftJoinLateral(
        ({ selectFrom }) =>
          selectFrom('identity')
            .select(['identity.display_name', 'identity.handle', 'identity.avatar_url'])
            .whereRef('identity.identity_id', '=', 'organization_invitation.invited_by')
            .offset(0)
            .as('inviter'),
        (join) => join.onTrue(),
      )
      .select(['invitee.handle as handle', 'inviter.display_name as inviterName'])
      .select(['inviter.handle as inviterHandle', 'inviter.avatar_url as inviterAvatarUrl'])
      .modifyEnd(onOneServer)
      .execute()

  const invitations = await pending.execute()
  const names = await listNames(
    db,
    invitations.flatMap(({ identityId, invitedBy }) => [identityId ?? [], invitedBy].flat()),
  )
  return invitations.map((invitation) => {
    const inviter = names.get(invitation.invitedBy)
    return {
      ...invitation,
      handle: names.get(invitation.identityId ?? '')?.handle ?? null,
      inviterName: inviter?.displayName ?? null,
      inviterHandle: inviter?.handle ?? null,
      inviterAvatarUrl: inviter?.avatarUrl ?? null,
    }
  })
}

async function listNames(db: Database, identityIds: IdentityId[]) {
  const rows = await db
    .selectFrom('identity')
    .select(['identity_id as identityId', 'handle', 'display_name as displayName', 'avatar_url as avatarUrl'])
    .where(sql<boolean>`identity_id = any(${[...new Set(identityIds)]}::uuid[])`)
    .execute()
  return new Map<string, (typeof rows)[number]>(rows.map((row) => [row.identityId, row]))
}

export type PendingInvitation = Awaited<ReturnType<typeof listPendingInvitations>>[number]

/** Lists pending invitations, newest first. */
export function listPendingInvitations(db: Database, organizationId: OrganizationId, now: Date) {
  return waiting(db, { organizationId }, now)
}

export async function findPendingInvitation(
  db: Database,
  organizationId: OrganizationId,
  invitationId: string,
  now: Date,
): Promise<PendingInvitation | undefined> {
  const [found] = await waiting(db, { organizationId, invitationId }, now)
  return found
}

/** Returns the inviting identity as invitees see it. */
export function findInviter(db: Database, identityId: IdentityId) {
  return db
    .selectFrom('identity')
    .select(['display_name as displayName', 'handle', 'avatar_url as avatarUrl'])
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
}

type MailedInvitation = { organizationId: OrganizationId; invitationId: string; mailTokenSha256: Uint8Array }

/** Notes when the present link was mailed. */
export async function noteMailed(
  db: Database,
  { organizationId, invitationId, mailTokenSha256 }: MailedInvitation,
  now: Date,
): Promise<void> {
  await db
    .updateTable('organization_invitation')
    .set({ mailed_at: now })
    .where('organization_id', '=', organizationId)
    .where('invitation_id', '=', invitationId)
    .where('mail_token_sha256', '=', Buffer.from(mailTokenSha256))
    .execute()
}

/** Replaces the link of the mail. Returns false if the invitation is not pending. */
export async function replaceMailToken(
  tx: Transaction,
  { organizationId, invitationId, mailTokenSha256 }: MailedInvitation,
  now: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('organization_invitation')
    .set({ mail_token_sha256: mailTokenSha256, mailed_at: now })
    .where('organization_id', '=', organizationId)
    .where('invitation_id', '=', invitationId)
    .where('email', 'is not', null)
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

type OwnInvitationRow = {
  organizationId: OrganizationId
  invitationId: string
  role: OrganizationRole
  email: string | null
  createdAt: Date
  expiresAt: Date
  isNamed: boolean
  ownIdentityId: IdentityId
  emailVerifiedAt: Date | null
  name: string
  slug: string
  logoUrl: string | null
  displayName: string
  handle: string
  avatarUrl: string | null
}

/**
 * Lists the pending invitations to the identities of a user and to the addresses that these have verified, newest
 * first: a row for each identity. Invitations of former or suspended members and of suspended organizations are void.
 * First finds the identities, and for each its invitations: others may have many.
 */
export async function listInvitationsOfUser(
  db: Database,
  userId: UserId,
  count: number,
  now: Date,
): Promise<OwnInvitationRow[]> {
  const pending = sql`accepted_at is null and expires_at > ${now} order by invitation_id desc limit ${count}`
  const { rows } = await sql<OwnInvitationRow>`
    with own as (select * from identity where user_id = ${userId} offset 0),
    invited as (
      select own.identity_id as own_identity_id, own.email_verified_at, true as is_named, invitation.*
      from own cross join lateral (
        select * from organization_invitation where identity_id = own.identity_id and ${pending}
      ) invitation
      union all
      select own.identity_id as own_identity_id, own.email_verified_at, false as is_named, invitation.*
      from own cross join lateral (
        select * from organization_invitation where email = own.email and ${pending}
      ) invitation
      where own.email_verified
    )
    select invited.organization_id as "organizationId", invitation_id as "invitationId", invited.role, invited.email,
      invited.created_at as "createdAt", expires_at as "expiresAt", is_named as "isNamed",
      own_identity_id as "ownIdentityId", invited.email_verified_at as "emailVerifiedAt", organization.name, slug,
      logo_url as "logoUrl", display_name as "displayName", handle, avatar_url as "avatarUrl"
    from (select * from invited order by invitation_id desc limit ${count}) invited
    join organization on organization.organization_id = invited.organization_id and status = 'active'
    join organization_member host
      on host.organization_id = invited.organization_id and host.identity_id = invited.invited_by
    join identity inviter on inviter.identity_id = invited.invited_by
      and (inviter.suspended_at is null or inviter.suspended_until <= ${now})
    where not exists (
      select from organization_member member
      where member.organization_id = invited.organization_id and member.identity_id = invited.own_identity_id
    )
    order by invitation_id desc`.execute(db)
  return rows
}

type Acceptance = {
  organizationId: OrganizationId
  invitationId: string
  secret: { kind: 'link' | 'mail'; sha256: Uint8Array } | undefined
  identityId: IdentityId
  email: string | null
}

/**
 * Accepts an invitation once, as the invited identity or as one that has verified the address, by one of its secrets if
 * it is given. Returns the role, or undefined if the invitation was accepted or revoked, has expired, has another
 * secret, or is for another identity.
 */
export function consumeInvitation(tx: Transaction, { secret, ...by }: Acceptance, now: Date) {
  const column = secret?.kind === 'mail' ? 'mail_token_sha256' : 'token_sha256'
  return tx
    .updateTable('organization_invitation')
    .set({ accepted_at: now })
    .where('organization_id', '=', by.organizationId)
    .where('invitation_id', '=', by.invitationId)
    .$if(secret !== undefined, (some) => some.where(column, '=', Buffer.from(secret?.sha256 ?? [])))
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

export type OpenInvitation = Awaited<ReturnType<typeof listOpenInvitations>>[number]

/** Lists pending invitations of an organization without names. */
export function listOpenInvitations(tx: Transaction, organizationId: OrganizationId, now: Date) {
  const ofOrganization = tx
    .selectFrom('organization_invitation')
    .selectAll()
    .where('organization_id', '=', organizationId)
    // Otherwise the index by end may be used, which has the invitations of all organizations.
    .offset(0)
  return tx
    .selectFrom(ofOrganization.as('organization_invitation'))
    .select(['invitation_id as invitationId', 'role', 'identity_id as identityId', 'email', 'invited_by as invitedBy'])
    .where('accepted_at', 'is', null)
    .where('expires_at', '>', now)
    .orderBy('invitation_id')
    .execute()
}

/** Deletes invitations of an organization. */
export async function deleteInvitations(
  tx: Transaction,
  organizationId: OrganizationId,
  invitationIds: string[],
): Promise<void> {
  await tx
    .deleteFrom('organization_invitation')
    .where('organization_id', '=', organizationId)
    .where(sql<boolean>`invitation_id = any(${invitationIds}::uuid[])`)
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
