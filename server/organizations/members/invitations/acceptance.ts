import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { notifyFormerEmail, requireListedEmail, setProvedEmail } from '#accounts/identities/email.ts'
import {
  actingUserTransaction,
  type IdentityRow,
  lockOwnIdentity,
  verifiedEmailOf,
} from '#accounts/identities/identity.ts'
import { isSuspendedIdentity } from '#accounts/identities/suspension.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { type PasskeySession, requireRecentAuthentication } from '#accounts/sessions/session.ts'
import { findMembership, lockOrganization } from '#organizations/membership/member.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { joinOrganization } from '../member.ts'
import { canJoinAnotherOrganization, toOwnOrganization } from '../organization.ts'
import * as invitationStore from './invitation-store.ts'
import type { PendingInvitation } from './invitation-store.ts'
import { type InvitationKey, type InvitationSecret, matchInvitationToken, parseInvitationToken } from './token.ts'

const errors = defineErrors({
  invitation_not_for_you: [
    403,
    'The invitation is for another identity, or for an e-mail address that this identity has not verified.',
  ],
  email_proof_outdated: [403, 'The identity verified this address too long ago. Open the link in the mail instead.'],
  invitation_not_found: [404, 'The invitation does not exist, has expired, or was accepted or revoked.'],
  already_member: [409, 'The identity is already a member.'],
  too_many_organizations: [409, 'The identity has reached the maximum number of organizations.'],
})

/** Returns whether an invitation is for an identity, or for the address that it has verified. */
export function isFor(
  invitation: Pick<PendingInvitation, 'identityId' | 'email'>,
  by: Pick<IdentityRow, 'identityId' | 'email' | 'emailVerified'>,
): boolean {
  if (invitation.identityId === by.identityId) return true
  return invitation.email !== null && invitation.email === verifiedEmailOf(by)
}

/** Returns whether a verified address still counts as proof, without the link that was mailed to it. */
export function isRecentProof(emailVerifiedAt: Date | null, now: Date): boolean {
  return emailVerifiedAt !== null && addSeconds(emailVerifiedAt, limits.recentEmailProofSeconds) > now
}

type Acceptance = { token: string; identityId: IdentityId; verifyEmail: boolean; language: Language }

/**
 * Accepts an invitation by one of its tokens and joins its organization, once. With the token that was mailed,
 * `verifyEmail` also sets the invited address as the verified one of the identity: nothing else can prove it, least of
 * all the token that the inviting member saw. Throws `reauthentication_required`, `identity_not_found`,
 * `invitation_not_found`, `invitation_not_for_you`, `email_domain_required`, `already_member`,
 * `too_many_organizations`.
 */
export async function acceptInvitation(
  kernel: ServerContext,
  session: PasskeySession,
  { token, identityId, verifyEmail, language }: Acceptance,
  now: Date,
): Promise<OwnOrganization> {
  const key = parseInvitationToken(token)
  if (!key) throw errors.invitation_not_found()
  requireRecentAuthentication(session, now)
  const { db, config } = kernel
  // A change of the address locks the user, before the identity.
  const actingIn = verifyEmail ? actingUserTransaction : actingTransaction
  const { joined, replaced } = await actingIn(db, session, async (tx) => {
    const own = await lockOwnIdentity(tx, session, identityId, now)
    const invitation = await lockInvitation(tx, key, now)
    const secret = matchInvitationToken(invitation, token)
    if (!secret) throw errors.invitation_not_found()
    const proved = secret.kind === 'mail' && verifyEmail ? invitation.email : null
    if (proved === null || proved === verifiedEmailOf(own))
      return { joined: await join(tx, { session, key, invitation, own, secret }, now), replaced: undefined }
    const { userId } = session
    await requireListedEmail(tx, config, { identity: own, email: proved }, now)
    await setProvedEmail(tx, { userId, before: own, email: proved, by: 'invitation' }, now)
    const after = { ...own, email: proved, emailVerified: true }
    return {
      joined: await join(tx, { session, key, invitation, own: after, secret }, now),
      replaced: own.email === proved ? undefined : own,
    }
  })
  if (replaced) await notifyFormerEmail(kernel, replaced, language)
  return joined
}

type OwnAnswer = InvitationKey & { identityId: IdentityId }

/**
 * Accepts an invitation without a token, as the identity that it names, or one that has verified its address lately: an
 * address may have another owner since it was verified. Throws the errors of `acceptInvitation`, and
 * `email_proof_outdated`.
 */
export async function joinByInvitation(
  { db }: ServerContext,
  session: PasskeySession,
  { identityId, ...key }: OwnAnswer,
  now: Date,
): Promise<OwnOrganization> {
  requireRecentAuthentication(session, now)
  return actingTransaction(db, session, async (tx) => {
    const own = await lockOwnIdentity(tx, session, identityId, now)
    const invitation = await requireOwn(tx, key, own, now)
    const isNamed = invitation.identityId === identityId
    if (!isNamed && !isRecentProof(own.emailVerifiedAt, now)) throw errors.email_proof_outdated()
    return join(tx, { session, key, invitation, own, secret: undefined }, now)
  })
}

/**
 * Ends an invitation as the identity that it is for. Throws `identity_not_found`, `invitation_not_found`,
 * `email_proof_outdated`.
 */
export async function declineInvitation(
  { db }: ServerContext,
  session: PasskeySession,
  { identityId, ...key }: OwnAnswer,
  now: Date,
): Promise<void> {
  await actingTransaction(db, session, async (tx) => {
    const own = await lockOwnIdentity(tx, session, identityId, now)
    const { role, identityId: named } = await requireOwn(tx, key, own, now)
    // A former owner of the address must not end the invitation of the present one.
    if (named !== identityId && !isRecentProof(own.emailVerifiedAt, now)) throw errors.email_proof_outdated()
    if (!(await invitationStore.deletePendingInvitation(tx, key, now))) throw errors.invitation_not_found()
    const { organizationId, invitationId } = key
    const details = { invitationId, role }
    const event = { action: 'organization.invitation.declined', actor: 'user', userId: session.userId } as const
    await recordAuditEvent(tx, { ...event, identityId, organizationId, details }, now)
  })
}

/** Locks the organization of an invitation, which must be pending. Throws `invitation_not_found`. */
async function lockInvitation(tx: Transaction, { organizationId, invitationId }: InvitationKey, now: Date) {
  await lockOrganization(tx, organizationId)
  const invitation = await invitationStore.findPendingInvitation(tx, organizationId, invitationId, now)
  if (!invitation) throw errors.invitation_not_found()
  return invitation
}

/** Users that an invitation is not for learn nothing of it. Throws `invitation_not_found`. */
async function requireOwn(tx: Transaction, key: InvitationKey, own: IdentityRow, now: Date) {
  const invitation = await lockInvitation(tx, key, now)
  if (!isFor(invitation, own)) throw errors.invitation_not_found()
  return invitation
}

type Joining = {
  session: PasskeySession
  key: InvitationKey
  invitation: PendingInvitation
  own: IdentityRow
  secret: InvitationSecret | undefined
}

/** Consumes an invitation and adds its member. The transaction has locked the identity and the organization. */
async function join(
  tx: Transaction,
  { session, key, invitation, own, secret }: Joining,
  now: Date,
): Promise<OwnOrganization> {
  const { organizationId, invitationId } = key
  const { identityId } = own
  const host = await findMembership(tx, organizationId, invitation.invitedBy)
  if (!host || (await isSuspendedIdentity(tx, host.identityId, now))) throw errors.invitation_not_found()
  if (!isFor(invitation, own)) throw errors.invitation_not_for_you()
  if (await findMembership(tx, organizationId, identityId)) throw errors.already_member()
  if (!(await canJoinAnotherOrganization(tx, identityId, now))) throw errors.too_many_organizations()

  const taken = await invitationStore.consumeInvitation(
    tx,
    { ...key, secret, identityId, email: verifiedEmailOf(own) },
    now,
  )
  if (!taken) throw errors.invitation_not_found()
  const { namedByDirectory } = host
  const joining = { organizationId, identityId, role: taken.role, namedByDirectory, invitedEmail: invitation.email }
  await joinOrganization(tx, joining, now)
  const event = { action: 'organization.member.joined', actor: 'user', userId: session.userId } as const
  const details = { invitationId, role: taken.role }
  await recordAuditEvent(tx, { ...event, identityId, organizationId, details }, now)
  const joined = await findMembership(tx, organizationId, identityId)
  if (!joined) throw new Error(`${identityId} has joined ${organizationId} but is not a member`)
  return toOwnOrganization(joined)
}
