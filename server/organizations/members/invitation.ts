import { randomUUIDv7 } from 'node:crypto'
import { isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import type { Invitation, OpenInvitation, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { findByHandle, holdIdentity, holdOwnIdentity, listActing } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { equalBytes, sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Language } from '#platform/outbound/language.ts'
import type { PersonKey } from '#platform/rate-limits/rate-limit-key.ts'
import { textKey } from '#platform/rate-limits/rate-limit.ts'
import { Refusal, refusals } from '#platform/refusal.ts'
import { newToken, readToken, uuidFromBytes, uuidToBytes } from '#platform/crypto/token-format.ts'
import { actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { requireFresh, type Session } from '#accounts/sessions/session.ts'
import {
  actingMemberTransaction,
  findMembership,
  requireMember,
  type Asking,
  type Member,
} from '#organizations/membership/access.ts'
import { invitationMail } from './invitation-mail.ts'
import * as invitationStore from './invitation-store.ts'
import type { WaitingInvitation } from './invitation-store.ts'
import { joinOrganization, requireNoMore, rightsOfRole } from './member.ts'
import { mayJoinAnother, toOwnOrganization } from './organization.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request: [400, 'Invite a handle or an e-mail address, one of the two.'],
  invalid_email: [400, 'This is not an e-mail address that we can write to.'],
  invitation_for_another: [
    403,
    'This invitation is for another identity, or for an address that this one has not proved.',
  ],
  identity_not_found: [404, 'Nobody has this handle.'],
  invitation_not_found: [404, 'This invitation was accepted or withdrawn, has ended, or never was.'],
  already_member: [409, 'This identity is a member already.'],
  too_many_invitations: [409, 'So many invitations of this organization wait that no more may be made.'],
  too_many_organizations: [409, 'This identity is in as many organizations as it may be.'],
})

/** Whom to invite, and as what. */
export type Wanted = { handle?: string | undefined; email?: string | undefined; role: OrganizationRole }

/** Who is invited: an identity, or whoever has proved an address. */
type Addressee = { identityId: string; email: null; handle: string } | { identityId: null; email: string; handle: null }

/**
 * Asks somebody to join. The token is told this once, and mailed to an address where mail is set up. Refuses what
 * `requireMember` and `recordAct` do, `invalid_request`, `invalid_email`, `identity_not_found`, `insufficient_scope`,
 * `already_member`, `too_many_invitations`, `rate_limited`, and what `requireFresh` does: to be a member at all is to
 * read, and to be given keys.
 */
export async function invite(
  kernel: Kernel,
  { language, ...asking }: Asking & { language: Language },
  wanted: Wanted,
  now: Date,
) {
  const { db, config, rateLimits } = kernel
  const { organizationId, session } = asking
  const { role } = wanted
  const { organization } = await requireMember(kernel, asking, 'manage_identities', now)
  const addressee = await addresseeOf(db, wanted)
  await rateLimits.count('invitation of a person', ownKey(session, now))

  const invitationId = randomUUIDv7()
  const token = newToken('invitation', uuidToBytes(organizationId), uuidToBytes(invitationId))
  const expiresAt = secondsAfter(now, limits.invitationLifetimeSeconds)
  const inviter = await actingTransaction(db, asking.session, async (tx) => {
    if (addressee.identityId !== null && !(await holdIdentity(tx, addressee.identityId)))
      throw refuse.identity_not_found()
    await store.lockOrganization(tx, organizationId)
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    requireNoMore(acting, rightsOfRole(role))
    requireFreshToAct(asking, now)
    await requireRoom(tx, organizationId, addressee, now)
    const { identityId, email } = addressee
    const row = { organizationId, invitationId, identityId, email, role, tokenSha256: sha256(token), expiresAt }
    await invitationStore.insertInvitation(tx, { ...row, invitedBy: acting.identityId }, now)
    const details = { invitationId, role, ...(identityId !== null && { invitedIdentityId: identityId }) }
    await recordAct(tx, { asking, acting }, { action: 'organization.invitation.created', details }, now)
    return acting.identityId
  })
  const url = `${config.businessUrl.origin}/invitations/${token}`
  const { email, handle } = addressee
  const letter = { organization: organization.name, inviter, url, language, counted: ownKey(session, now) }
  const mailed = email !== null && (await mailTo(kernel, email, letter))
  const invitation: Invitation = { invitationId, role, handle, email, expiresAt: expiresAt.toISOString() }
  return { invitation, token, url, mailed }
}

async function addresseeOf(db: Database, { handle, email }: Wanted): Promise<Addressee> {
  if ((handle === undefined) === (email === undefined)) throw refuse.invalid_request()
  if (handle === undefined) {
    if (email === undefined || !isEmail(email)) throw refuse.invalid_email()
    return { identityId: null, email: normalizeEmail(email), handle: null }
  }
  const found = await findByHandle(db, handle)
  if (!found) throw refuse.identity_not_found()
  return { identityId: found.identityId, email: null, handle: found.handle }
}

async function requireRoom(tx: Transaction, organizationId: string, { identityId }: Addressee, now: Date) {
  if (identityId !== null && (await findMembership(tx, organizationId, identityId))) throw refuse.already_member()
  const waiting = await invitationStore.listWaiting(tx, organizationId, now)
  if (waiting.length >= limits.invitationsWaitingMax) throw refuse.too_many_invitations()
}

type Letter = { organization: string; inviter: string; url: string; language: Language; counted: PersonKey }

/** Writes to an address; false where that could not be done: whoever invites has the link all the same. */
async function mailTo(
  { db, mail, log, rateLimits }: Kernel,
  to: string,
  { organization, inviter, url, language, counted }: Letter,
): Promise<boolean> {
  const from = await invitationStore.findInviter(db, inviter)
  if (!from) return false
  try {
    mail.require()
    await rateLimits.count('mail for a person', counted)
    await rateLimits.count('mail to an address', textKey(to.toLowerCase()))
    await mail.send(invitationMail({ to, organization, handle: from.handle, url, language }))
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code !== 'mail_not_set_up') log.warn({ reason: error.code }, 'an invitation was not mailed')
    return false
  }
}

export async function listInvitations(db: Database, organizationId: string, now: Date): Promise<Invitation[]> {
  return (await invitationStore.listWaiting(db, organizationId, now)).map(toInvitation)
}

/** An invitation that waits, without its token. Refuses `invitation_not_found`. */
export async function readInvitation(
  db: Database,
  organizationId: string,
  invitationId: string,
  now: Date,
): Promise<Invitation> {
  const found = await invitationStore.findWaiting(db, organizationId, invitationId, now)
  if (!found) throw refuse.invitation_not_found()
  return toInvitation(found)
}

/** Withdraws an invitation. Refuses what `requireMember` and `recordAct` do, `invitation_not_found`. */
export async function withdrawInvitation(
  { db, config }: Kernel,
  asking: Asking & { invitationId: string },
  now: Date,
): Promise<void> {
  const { organizationId, invitationId } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    if (!(await invitationStore.deleteWaiting(tx, { organizationId, invitationId }, now)))
      throw refuse.invitation_not_found()
    const act = { action: 'organization.invitation.withdrawn', details: { invitationId } } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}

/** What an invitation is to, for whoever holds its token. Refuses `invitation_not_found`. */
export async function openInvitation(
  db: Database,
  session: Session,
  token: string,
  now: Date,
): Promise<OpenInvitation> {
  const key = keyOf(token)
  const found = key && (await invitationStore.findWaiting(db, key.organizationId, key.invitationId, now))
  if (!found || !equalBytes(found.tokenSha256, sha256(token))) throw refuse.invitation_not_found()
  const [inviter, host] = [
    await invitationStore.findInviter(db, found.invitedBy),
    await findHost(db, key.organizationId, found),
  ]
  if (!inviter || !host) throw refuse.invitation_not_found()
  const own = await listActing(db, session)
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

/** The inviter as a member: who is none any more invites nobody, nor does an organization that is suspended. */
function findHost(db: Database, organizationId: string, { invitedBy }: WaitingInvitation): Promise<Member | undefined> {
  return findMembership(db, organizationId, invitedBy)
}

function isFor(invitation: WaitingInvitation, by: { identityId: string; email: string | null }): boolean {
  return invitation.identityId === by.identityId || (invitation.email !== null && invitation.email === by.email)
}

/**
 * Joins the organization that an invitation is to, once. Refuses `reauthentication_required`, `identity_not_found`,
 * `invitation_not_found`, `invitation_for_another`, `already_member`, `too_many_organizations`.
 */
export async function acceptInvitation(
  { db }: Kernel,
  session: Session,
  { token, identityId }: { token: string; identityId: string },
  now: Date,
): Promise<OwnOrganization> {
  const key = keyOf(token)
  if (!key) throw refuse.invitation_not_found()
  const { organizationId, invitationId } = key
  const tokenSha256 = sha256(token)
  requireFresh(session, now)
  return actingTransaction(db, session, async (tx) => {
    const { email } = await holdOwnIdentity(tx, session, identityId)
    await store.lockOrganization(tx, organizationId)
    const waiting = await invitationStore.findWaiting(tx, organizationId, invitationId, now)
    if (!waiting || !equalBytes(waiting.tokenSha256, tokenSha256)) throw refuse.invitation_not_found()
    const host = await findHost(tx, organizationId, waiting)
    if (!host) throw refuse.invitation_not_found()
    if (!isFor(waiting, { identityId, email })) throw refuse.invitation_for_another()
    if (await findMembership(tx, organizationId, identityId)) throw refuse.already_member()
    if (!(await mayJoinAnother(tx, identityId))) throw refuse.too_many_organizations()

    const taken = await invitationStore.takeInvitation(
      tx,
      { organizationId, invitationId, tokenSha256, identityId, email },
      now,
    )
    if (!taken) throw refuse.invitation_not_found()
    const { namedByDirectory } = host
    await joinOrganization(tx, { organizationId, identityId, role: taken.role, namedByDirectory }, now)
    const act = { action: 'organization.member.joined', actor: 'person', userId: session.userId } as const
    await record(tx, { ...act, identityId, organizationId, details: { invitationId, role: taken.role } }, now)
    const joined = await findMembership(tx, organizationId, identityId)
    if (!joined) throw new Error(`${identityId} has joined ${organizationId} and is no member of it`)
    return toOwnOrganization(joined)
  })
}

/** Deletes up to `batch` invitations that have ended, and says how many. */
export function pruneInvitations(db: Database, now: Date, batch: number): Promise<number> {
  return invitationStore.deleteEndedInvitations(db, now, batch)
}

function keyOf(token: string): { organizationId: string; invitationId: string } | undefined {
  const route = readToken('invitation', token, 32)
  return (
    route && { organizationId: uuidFromBytes(route.subarray(0, 16)), invitationId: uuidFromBytes(route.subarray(16)) }
  )
}

function toInvitation({ invitationId, role, handle, email, expiresAt }: WaitingInvitation): Invitation {
  return { invitationId, role, handle, email, expiresAt: expiresAt.toISOString() }
}
