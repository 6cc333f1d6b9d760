import type { Language } from '@countersign/protocol/formats/registries/languages'
import { randomUUIDv7 } from 'node:crypto'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Invitation } from '@countersign/protocol/organizations/invitations'
import { findByHandle, lockIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { findMembership, lockOrganization } from '#organizations/membership/member.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'
import { isOnlyStart } from '#organizations/acts/start-limit.ts'
import { permissionsOfRole, requireGrantablePermissions } from '../member.ts'
import { invitationMail } from './invitation-mail.ts'
import * as invitationStore from './invitation-store.ts'
import type { PendingInvitation } from './invitation-store.ts'
import { detailsOf } from './revocation.ts'
import { generateInvitationToken } from './token.ts'

const errors = defineErrors({
  invalid_request: [400, 'Send exactly one of handle and email.'],
  invalid_email: [400, 'email must be a deliverable e-mail address.'],
  identity_not_found: [404, 'No identity has this handle.'],
  invitation_not_found: [404, 'The invitation does not exist, has expired, or was accepted or revoked.'],
  already_member: [409, 'The identity is already a member.'],
  too_many_invitations: [409, 'The organization has reached the maximum number of open invitations.'],
})

/** Invitee and role of a new invitation. */
export type InvitationInput = { handle?: string | undefined; email?: string | undefined; role: OrganizationRole }

/** Recipient of an invitation: an identity, or any identity that has verified the address. */
type Addressee =
  | { identityId: IdentityId; email: null; handle: string }
  | { identityId: null; email: string; handle: null }

/**
 * Creates an invitation. The token is returned only here. An e-mail address is mailed another one, if mail is
 * configured. Throws the errors of `requireMember` and `recordSignedAction`, `invalid_request`, `invalid_email`,
 * `identity_not_found`, `insufficient_scope`, `already_member`, `too_many_invitations`, `rate_limited`. Always throws
 * the errors of `requireRecentAuthentication` too, because every member can read and receive keys.
 */
export async function createInvitation(
  kernel: ServerContext,
  { language, ...asking }: MemberContext & { language: Language },
  requested: InvitationInput,
  now: Date,
) {
  const { db, config, rateLimits } = kernel
  const { organizationId, session } = asking
  const { role } = requested
  const member = await requireMember(kernel, asking, 'manage_identities', now)
  const { organization } = member
  const addressee = await addresseeOf(db, requested)
  // A dry run, or the start of an act, invites no one. It counts among the changes of the user.
  if (!isOnlyStart(asking, member)) await rateLimits.count('invitations-per-user', ownKey(session, now))

  const invitationId = randomUUIDv7()
  const key = { organizationId, invitationId }
  const token = generateInvitationToken(key)
  const mailToken = addressee.email === null ? undefined : generateInvitationToken(key)
  const expiresAt = addSeconds(now, limits.invitationLifetimeSeconds)
  const inviter = await actingTransaction(db, asking.session, async (tx) => {
    if (addressee.identityId !== null && !(await lockIdentity(tx, addressee.identityId)))
      throw errors.identity_not_found()
    await lockOrganization(tx, organizationId)
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    requireGrantablePermissions(acting, permissionsOfRole(role))
    requireRecentAuthenticationForAction(asking, now)
    await requireRoom(tx, organizationId, addressee, now)
    const { identityId, email } = addressee
    const secrets = { tokenSha256: sha256(token), mailTokenSha256: mailToken === undefined ? null : sha256(mailToken) }
    const row = { ...key, identityId, email, role, ...secrets, expiresAt }
    await invitationStore.insertInvitation(tx, { ...row, invitedBy: acting.identityId }, now)
    const details = detailsOf({ invitationId, role, ...addressee })
    await recordSignedAction(tx, { asking, acting }, { action: 'organization.invitation.created', details }, now)
    return acting.identityId
  })
  const { email, handle } = addressee
  const from = await invitationStore.findInviter(db, inviter)
  const mailed =
    mailToken !== undefined &&
    from !== undefined &&
    (await tryToMail(kernel, { email, mailToken, from, organization: organization.name, language, session }, now))
  if (mailed) await invitationStore.noteMailed(db, { ...key, mailTokenSha256: sha256(mailToken) }, now)
  const shown = { invitationId, role, handle, email, expiresAt: expiresAt.toISOString() }
  const history = { createdAt: now.toISOString(), invitedBy: from ?? null, mailedAt: mailed ? now.toISOString() : null }
  const invitation: Invitation = { ...shown, ...history }
  return { invitation, token, url: urlOf(kernel, token), mailed }
}

function urlOf({ config }: Pick<ServerContext, 'config'>, token: string): string {
  return `${config.businessUrl.origin}/invitations/${token}`
}

async function addresseeOf(db: Database, { handle, email }: InvitationInput): Promise<Addressee> {
  if ((handle === undefined) === (email === undefined)) throw errors.invalid_request()
  if (handle === undefined) {
    if (email === undefined || !isEmail(email)) throw errors.invalid_email()
    return { identityId: null, email: normalizeEmail(email), handle: null }
  }
  const found = await findByHandle(db, handle)
  if (!found) throw errors.identity_not_found()
  return { identityId: found.identityId, email: null, handle: found.handle }
}

async function requireRoom(tx: Transaction, organizationId: OrganizationId, { identityId }: Addressee, now: Date) {
  if (identityId !== null && (await findMembership(tx, organizationId, identityId))) throw errors.already_member()
  const waiting = await invitationStore.listPendingInvitations(tx, organizationId, now)
  if (waiting.length >= limits.invitationsWaitingMax) throw errors.too_many_invitations()
}

type InvitationLetter = {
  email: string
  mailToken: string
  from: { displayName: string; handle: string }
  organization: string
  language: Language
  counted: PersonKey
}

/** Mails an invitation. Throws `mail_not_set_up`, `rate_limited`, `temporarily_unavailable`, `undeliverable`. */
async function mailLink(kernel: ServerContext, { email, mailToken, from, counted, ...letter }: InvitationLetter) {
  const { config, mail, rateLimits } = kernel
  mail.require()
  await rateLimits.count('mails-per-user', counted)
  await rateLimits.count('mails-per-address', hashKey(email.toLowerCase()))
  const inviter = `${from.displayName} (@${from.handle})`
  const url = urlOf(kernel, mailToken)
  await mail.send(invitationMail({ ...letter, to: email, inviter, url, service: config.brand.name }))
}

type FirstLetter = Omit<InvitationLetter, 'email' | 'counted'> & {
  email: string | null
  session: MemberContext['session']
}

/** Mails an invitation. Returns false if that fails; the inviting member can send the link in another way. */
async function tryToMail(
  kernel: ServerContext,
  { email, session, ...letter }: FirstLetter,
  now: Date,
): Promise<boolean> {
  if (email === null) return false
  try {
    await mailLink(kernel, { ...letter, email, counted: ownKey(session, now) })
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code !== 'mail_not_set_up') kernel.log.warn({ reason: error.code }, 'invitation mail failed')
    return false
  }
}

export async function listInvitations(db: Database, organizationId: OrganizationId, now: Date): Promise<Invitation[]> {
  return (await invitationStore.listPendingInvitations(db, organizationId, now)).map(toInvitation)
}

/** Gets a pending invitation without its token. Throws `invitation_not_found`. */
export async function getInvitation(
  db: Database,
  organizationId: OrganizationId,
  invitationId: string,
  now: Date,
): Promise<Invitation> {
  const found = await invitationStore.findPendingInvitation(db, organizationId, invitationId, now)
  if (!found) throw errors.invitation_not_found()
  return toInvitation(found)
}

type InvitationTarget = MemberContext & { invitationId: string }

/**
 * Mails an invitation again, with a new link; the one in the mail before ends, and the one that the inviting member saw
 * stays. The mail is sent before the link is stored: if sending fails, the previous one stays valid. Throws the errors
 * of `requireMember` and `mailLink`, `invitation_not_found`, `invalid_request`.
 */
export async function mailInvitation(
  kernel: ServerContext,
  { language, ...asking }: InvitationTarget & { language: Language },
  now: Date,
): Promise<Invitation> {
  const { db, config, rateLimits } = kernel
  const { organizationId, invitationId, session } = asking
  const { organization, identityId } = await requireMember(kernel, asking, 'manage_identities', now)
  const invitation = await invitationStore.findPendingInvitation(db, organizationId, invitationId, now)
  if (!invitation) throw errors.invitation_not_found()
  const { email } = invitation
  if (email === null) throw errors.invalid_request({ sentence: 'The invitation is for a username, not an address.' })
  const from = await invitationStore.findInviter(db, identityId)
  if (!from) throw errors.invitation_not_found()
  await rateLimits.count('invitations-per-user', ownKey(session, now))
  const mailToken = generateInvitationToken({ organizationId, invitationId })
  const letter = { organization: organization.name, language, counted: ownKey(session, now) }
  await mailLink(kernel, { ...letter, email, mailToken, from })
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    const mailed = { organizationId, invitationId, mailTokenSha256: sha256(mailToken) }
    if (!(await invitationStore.replaceMailToken(tx, mailed, now))) throw errors.invitation_not_found()
    const event = { action: 'organization.invitation.mailed', actor: 'user', userId: session.userId } as const
    const details = { invitationId, email }
    await recordAuditEvent(tx, { ...event, identityId: acting.identityId, organizationId, details }, now)
  })
  return { ...toInvitation(invitation), mailedAt: now.toISOString() }
}

/** Revokes an invitation. Throws the errors of `requireMember` and `recordSignedAction`, `invitation_not_found`. */
export async function revokeInvitation(
  { db, config }: ServerContext,
  asking: InvitationTarget,
  now: Date,
): Promise<void> {
  const { organizationId, invitationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    const invitation = await invitationStore.findPendingInvitation(tx, organizationId, invitationId, now)
    if (!invitation || !(await invitationStore.deletePendingInvitation(tx, { organizationId, invitationId }, now)))
      throw errors.invitation_not_found()
    const { role, identityId } = invitation
    const from = { role, identityId }
    const details = detailsOf(invitation)
    const act = { action: 'organization.invitation.revoked', details, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

/** Deletes up to `batch` expired invitations, and returns the number. */
export function pruneInvitations(db: Database, now: Date, batch: number): Promise<number> {
  return invitationStore.deleteExpiredInvitations(db, now, batch)
}

function toInvitation(row: PendingInvitation): Invitation {
  const { invitationId, role, handle, email, expiresAt, createdAt, mailedAt } = row
  const { inviterName, inviterHandle, inviterAvatarUrl } = row
  const invitedBy =
    inviterName === null || inviterHandle === null
      ? null
      : { displayName: inviterName, handle: inviterHandle, avatarUrl: inviterAvatarUrl }
  return {
    invitationId,
    role,
    handle,
    email,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
    invitedBy,
    mailedAt: mailedAt?.toISOString() ?? null,
  }
}
