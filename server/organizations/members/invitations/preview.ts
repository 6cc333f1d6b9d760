import { limits } from '@countersign/protocol/formats/limits'
import type {
  InvitationPreview,
  OwnInvitation,
  PublicInvitation,
} from '@countersign/protocol/organizations/invitations'
import { listIdentitiesOfSession } from '#accounts/identities/identity.ts'
import { isSuspendedIdentity } from '#accounts/identities/suspension.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { findMembership } from '#organizations/membership/member.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { isFor, isRecentProof } from './acceptance.ts'
import * as invitationStore from './invitation-store.ts'
import { matchInvitationToken, parseInvitationToken } from './token.ts'

const errors = defineErrors({
  invitation_not_found: [404, 'The invitation does not exist, has expired, or was accepted or revoked.'],
})

/** Path of the page of an invitation, before its token. */
const invitationPath = '/invitations/'

/**
 * Finds a pending invitation by one of its tokens. It is void if its creator is suspended or no longer a member, or if
 * the organization is suspended. All causes throw the same `invitation_not_found`.
 */
async function requireInvitation(db: Database, token: string, now: Date) {
  const key = parseInvitationToken(token)
  const found = key && (await invitationStore.findPendingInvitation(db, key.organizationId, key.invitationId, now))
  const secret = found && matchInvitationToken(found, token)
  if (!secret) throw errors.invitation_not_found()
  const host = await findMembership(db, key.organizationId, found.invitedBy)
  const inviter = await invitationStore.findInviter(db, found.invitedBy)
  if (!inviter || !host || (await isSuspendedIdentity(db, found.invitedBy, now))) throw errors.invitation_not_found()
  const { name, slug, logoUrl } = host.organization
  const shown: PublicInvitation = {
    organization: { id: key.organizationId, name, slug, logoUrl },
    invitedBy: inviter,
    role: found.role,
    expiresAt: found.expiresAt.toISOString(),
    handle: found.handle,
    email: found.email,
    provesEmail: secret.kind === 'mail',
  }
  return { found, shown }
}

/** Returns an invitation for anyone who has one of its tokens. Throws `invitation_not_found`. */
export async function previewInvitation(db: Database, token: string, now: Date): Promise<PublicInvitation> {
  return (await requireInvitation(db, token, now)).shown
}

/**
 * Returns what a pending invitation offers, by the URL of its page, for a user who is to return there; undefined for
 * any other URL, or if the address has asked too often.
 */
export async function findInvitationAt(
  { db, config, rateLimits, clock }: Pick<ServerContext, 'db' | 'config' | 'rateLimits' | 'clock'>,
  url: string,
  address: string,
): Promise<Pick<PublicInvitation, 'organization' | 'role'> | undefined> {
  const { origin, pathname } = URL.parse(url) ?? {}
  const token = pathname?.startsWith(invitationPath) ? pathname.slice(invitationPath.length) : ''
  if (origin !== config.businessUrl.origin || !parseInvitationToken(token)) return undefined
  try {
    await rateLimits.count('invitation-previews', address)
    const { organization, role } = await previewInvitation(db, token, clock())
    return { organization, role }
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

/** Returns the preview of an invitation for a user who has one of its tokens. Throws `invitation_not_found`. */
export async function getInvitationByToken(
  db: Database,
  session: PasskeySession,
  token: string,
  now: Date,
): Promise<InvitationPreview> {
  const { found, shown } = await requireInvitation(db, token, now)
  const own = await listIdentitiesOfSession(db, session, now)
  const mine = own.filter((identity) => isFor(found, identity))
  return { ...shown, identityIds: mine.map(({ identityId }) => identityId) }
}

/** Lists the open invitations to identities of the user, and to addresses that they have verified, newest first. */
export async function listOwnInvitations(
  db: Database,
  { userId }: Pick<PasskeySession, 'userId'>,
  now: Date,
): Promise<OwnInvitation[]> {
  const rows = await invitationStore.listInvitationsOfUser(db, userId, limits.invitationsShownMax, now)
  return [...Map.groupBy(rows, ({ invitationId }) => invitationId).values()].flatMap((ofOne) => {
    const joinable = ofOne.filter((row) => row.isNamed || isRecentProof(row.emailVerifiedAt, now))
    const canJoin = joinable.length > 0
    const identityIds = (canJoin ? joinable : ofOne).map(({ ownIdentityId }) => ownIdentityId)
    return ofOne.slice(0, 1).map((row) => ({ ...toOwnInvitation(row), identityIds, canJoin }))
  })
}

type Row = Awaited<ReturnType<typeof invitationStore.listInvitationsOfUser>>[number]

function toOwnInvitation(row: Row) {
  const { organizationId, invitationId, name, slug, logoUrl, role, email } = row
  const { displayName, handle, avatarUrl, createdAt, expiresAt } = row
  return {
    organizationId,
    invitationId,
    organization: { name, slug, logoUrl },
    invitedBy: { displayName, handle, avatarUrl },
    role,
    email,
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
  }
}
