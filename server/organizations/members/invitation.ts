import type { Language } from '@countersign/protocol/formats/registries/languages'
import { type Letter, type Mail, mailIn } from '#platform/outbound/mail.ts'
import { randomUUIDv7 } from 'node:crypto'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import type { Invitation, InvitationPreview, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { findByHandle, listIdentitiesOfSession, lockIdentity, lockOwnIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { generateToken, parseToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { type PasskeySession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { type MemberContext, actingMemberTransaction, requireMember } from '#organizations/membership/access.ts'
import { type Member, findMembership, lockOrganization } from '#organizations/membership/member.ts'
import * as invitationStore from './invitation-store.ts'
import type { PendingInvitation } from './invitation-store.ts'
import { joinOrganization, permissionsOfRole, requireGrantablePermissions } from './member.ts'
import { canJoinAnotherOrganization, toOwnOrganization } from './organization.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'

type About = { to: string; organization: string; handle: string; url: string; language: Language }

/** Returns the mail that invites an address to join an organization. */
function invitationMail({ to, organization, handle, url, language }: About): Mail {
  const letter: Letter = {
    en: {
      subject: `You are invited to ${organization} on Countersign`,
      text:
        `@${handle} invited you to join ${organization}.\n\n` +
        `Accept the invitation with an identity that has this address: ${url}\n\n` +
        `The link works once and expires in seven days. If you weren't expecting this, you can ignore this e-mail.\n`,
    },
    de: {
      subject: `Du bist in ${organization} auf Countersign eingeladen`,
      text:
        `@${handle} lädt dich in ${organization} ein.\n\n` +
        `Nimm die Einladung mit einer Identität an, die diese Adresse hat: ${url}\n\n` +
        `Der Link gilt einmal, sieben Tage lang. Wenn du die Einladung nicht erwartet hast, ignoriere sie.\n`,
    },
  }
  return mailIn(language, to, letter)
}

const errors = defineErrors({
  invalid_request: [400, 'Send exactly one of handle and email.'],
  invalid_email: [400, 'email must be a deliverable e-mail address.'],
  invitation_not_for_you: [
    403,
    'The invitation is for another identity, or for an e-mail address that this identity has not verified.',
  ],
  identity_not_found: [404, 'No identity has this handle.'],
  invitation_not_found: [404, 'The invitation does not exist, has expired, or was accepted or revoked.'],
  already_member: [409, 'The identity is already a member.'],
  too_many_invitations: [409, 'The organization has reached the maximum number of open invitations.'],
  too_many_organizations: [409, 'The identity has reached the maximum number of organizations.'],
})

/** Invitee and role of a new invitation. */
export type InvitationInput = { handle?: string | undefined; email?: string | undefined; role: OrganizationRole }

/** Recipient of an invitation: an identity, or any identity that has verified the address. */
type Addressee =
  | { identityId: IdentityId; email: null; handle: string }
  | { identityId: null; email: string; handle: null }

/**
 * Creates an invitation. The token is returned only here, and mailed to an e-mail address if mail is configured. Throws
 * the errors of `requireMember` and `recordSignedAction`, `invalid_request`, `invalid_email`, `identity_not_found`,
 * `insufficient_scope`, `already_member`, `too_many_invitations`, `rate_limited`. Always throws the errors of
 * `requireRecentAuthentication` too, because every member can read and receive keys.
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
  const { organization } = await requireMember(kernel, asking, 'manage_identities', now)
  const addressee = await addresseeOf(db, requested)
  await rateLimits.count('invitations-per-user', ownKey(session, now))

  const invitationId = randomUUIDv7()
  const token = generateToken('invitation', uuidToBytes(organizationId), uuidToBytes(invitationId))
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
    const row = { organizationId, invitationId, identityId, email, role, tokenSha256: sha256(token), expiresAt }
    await invitationStore.insertInvitation(tx, { ...row, invitedBy: acting.identityId }, now)
    const details = { invitationId, role, ...(identityId !== null && { invitedIdentityId: identityId }) }
    await recordSignedAction(tx, { asking, acting }, { action: 'organization.invitation.created', details }, now)
    return acting.identityId
  })
  const url = `${config.businessUrl.origin}/invitations/${token}`
  const { email, handle } = addressee
  const letter = { organization: organization.name, inviter, url, language, counted: ownKey(session, now) }
  const mailed = email !== null && (await mailTo(kernel, email, letter))
  const invitation: Invitation = { invitationId, role, handle, email, expiresAt: expiresAt.toISOString() }
  return { invitation, token, url, mailed }
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
  organization: string
  inviter: IdentityId
  url: string
  language: Language
  counted: PersonKey
}

/** Mails the invitation. Returns false if that fails; the inviting member can send the link in another way. */
async function mailTo(
  { db, mail, log, rateLimits }: ServerContext,
  to: string,
  { organization, inviter, url, language, counted }: InvitationLetter,
): Promise<boolean> {
  const from = await invitationStore.findInviter(db, inviter)
  if (!from) return false
  try {
    mail.require()
    await rateLimits.count('mails-per-user', counted)
    await rateLimits.count('mails-per-address', hashKey(to.toLowerCase()))
    await mail.send(invitationMail({ to, organization, handle: from.handle, url, language }))
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code !== 'mail_not_set_up') log.warn({ reason: error.code }, 'invitation mail failed')
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

/** Revokes an invitation. Throws the errors of `requireMember` and `recordSignedAction`, `invitation_not_found`. */
export async function revokeInvitation(
  { db, config }: ServerContext,
  asking: MemberContext & { invitationId: string },
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
    const act = { action: 'organization.invitation.revoked', details: { invitationId }, from } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

/** Returns the preview of an invitation for a user who has its token. Throws `invitation_not_found`. */
export async function getInvitationByToken(
  db: Database,
  session: PasskeySession,
  token: string,
  now: Date,
): Promise<InvitationPreview> {
  const key = keyOf(token)
  const found = key && (await invitationStore.findPendingInvitation(db, key.organizationId, key.invitationId, now))
  if (!found || !equalBytes(found.tokenSha256, sha256(token))) throw errors.invitation_not_found()
  const [inviter, host] = [
    await invitationStore.findInviter(db, found.invitedBy),
    await findHost(db, key.organizationId, found),
  ]
  if (!inviter || !host) throw errors.invitation_not_found()
  const own = await listIdentitiesOfSession(db, session)
  const mine = own.filter(({ identityId, email }) => isFor(found, { identityId, email }))
  const { name, slug, logoUrl } = host.organization
  return {
    organization: { name, slug, logoUrl },
    invitedBy: inviter,
    role: found.role,
    expiresAt: found.expiresAt.toISOString(),
    identityIds: mine.map(({ identityId }) => identityId),
  }
}

/**
 * Finds the inviting member. An invitation is void if its creator is no longer a member or the organization is
 * suspended.
 */
function findHost(
  db: Database,
  organizationId: OrganizationId,
  { invitedBy }: PendingInvitation,
): Promise<Member | undefined> {
  return findMembership(db, organizationId, invitedBy)
}

function isFor(invitation: PendingInvitation, by: { identityId: IdentityId; email: string | null }): boolean {
  return invitation.identityId === by.identityId || (invitation.email !== null && invitation.email === by.email)
}

/**
 * Accepts an invitation and joins its organization, once. Throws `reauthentication_required`, `identity_not_found`,
 * `invitation_not_found`, `invitation_not_for_you`, `already_member`, `too_many_organizations`.
 */
export async function acceptInvitation(
  { db }: ServerContext,
  session: PasskeySession,
  { token, identityId }: { token: string; identityId: IdentityId },
  now: Date,
): Promise<OwnOrganization> {
  const key = keyOf(token)
  if (!key) throw errors.invitation_not_found()
  const { organizationId, invitationId } = key
  const tokenSha256 = sha256(token)
  requireRecentAuthentication(session, now)
  return actingTransaction(db, session, async (tx) => {
    const { email } = await lockOwnIdentity(tx, session, identityId)
    await lockOrganization(tx, organizationId)
    const waiting = await invitationStore.findPendingInvitation(tx, organizationId, invitationId, now)
    if (!waiting || !equalBytes(waiting.tokenSha256, tokenSha256)) throw errors.invitation_not_found()
    const host = await findHost(tx, organizationId, waiting)
    if (!host) throw errors.invitation_not_found()
    if (!isFor(waiting, { identityId, email })) throw errors.invitation_not_for_you()
    if (await findMembership(tx, organizationId, identityId)) throw errors.already_member()
    if (!(await canJoinAnotherOrganization(tx, identityId))) throw errors.too_many_organizations()

    const taken = await invitationStore.consumeInvitation(
      tx,
      { organizationId, invitationId, tokenSha256, identityId, email },
      now,
    )
    if (!taken) throw errors.invitation_not_found()
    const { namedByDirectory } = host
    await joinOrganization(tx, { organizationId, identityId, role: taken.role, namedByDirectory }, now)
    const act = { action: 'organization.member.joined', actor: 'user', userId: session.userId } as const
    await recordAuditEvent(tx, { ...act, identityId, organizationId, details: { invitationId, role: taken.role } }, now)
    const joined = await findMembership(tx, organizationId, identityId)
    if (!joined) throw new Error(`${identityId} has joined ${organizationId} but is not a member`)
    return toOwnOrganization(joined)
  })
}

/** Deletes up to `batch` expired invitations, and returns the number. */
export function pruneInvitations(db: Database, now: Date, batch: number): Promise<number> {
  return invitationStore.deleteExpiredInvitations(db, now, batch)
}

function keyOf(token: string): { organizationId: OrganizationId; invitationId: string } | undefined {
  const route = parseToken('invitation', token, 32)
  return (
    route && {
      organizationId: asId<OrganizationId>(uuidFromBytes(route.subarray(0, 16))),
      invitationId: uuidFromBytes(route.subarray(16)),
    }
  )
}

function toInvitation({ invitationId, role, handle, email, expiresAt }: PendingInvitation): Invitation {
  return { invitationId, role, handle, email, expiresAt: expiresAt.toISOString() }
}
