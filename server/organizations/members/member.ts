import { randomUUIDv7 } from 'node:crypto'
import type { OrganizationRole, OrganizationScope } from '@countersign/protocol/formats/role'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { MemberChange, OrganizationMember } from '@countersign/protocol/organizations/organizations'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import {
  actingMemberTransaction,
  findOwnMembership,
  requireMember,
  type MemberContext,
} from '#organizations/membership/access.ts'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { lockActiveIdentity } from '#accounts/identities/identity.ts'
import { leaveGroupsOfOrganization } from '#accounts/groups/upstream.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Member } from '#organizations/membership/member.ts'
import { countMemberList, listAllMembers } from '#organizations/membership/member-list.ts'
import type { Session } from '#accounts/sessions/session.ts'
import { suspendSignatoriesWithout } from '#organizations/membership/council/council.ts'
import { removeMembers } from './removal.ts'
import * as store from './store.ts'
import type { OpenInvitation } from './invitations/invitation-store.ts'
import { isForMembers, type Revoker, revokeInvitations } from './invitations/revocation.ts'
import * as memberStore from './member-store.ts'
import type { MemberRow } from './member-store.ts'
import { recordSignedAction, requireRecentAuthenticationForAction } from '#organizations/acts/signed-action.ts'

const errors = defineErrors({
  invalid_request: [400, 'Every role includes read, and owners always have all scopes.'],
  insufficient_scope: [403, 'You cannot grant or revoke permissions that you do not have.'],
  signatory_protected: [403, 'Only an owner can suspend a signatory.'],
  member_not_found: [404, 'Member not found.'],
  identity_not_found: [404, 'No identity of this account has this ID.'],
  already_member: [409, 'The identity is already a member.'],
  too_many_organizations: [409, 'The identity has reached the maximum number of organizations.'],
  last_owner: [409, 'An organization needs at least one owner.'],
})

/** Role and permissions of a member. */
export type MemberPermissions = {
  role: OrganizationRole
  scopes: readonly OrganizationScope[]
  signingAuthority: boolean
}

/** Returns the default permissions of a role. */
export function permissionsOfRole(role: OrganizationRole): MemberPermissions {
  const scopes: readonly OrganizationScope[] = scopesOfRole[role]
  return { role, scopes, signingAuthority: scopes.includes('sign') }
}

/** Throws `insufficient_scope` if a member would grant or revoke permissions that they do not have. */
export function requireGrantablePermissions(giver: MemberPermissions, given: MemberPermissions): void {
  if (!mayGrant(giver, given)) throw errors.insufficient_scope()
}

function mayGrant(giver: MemberPermissions, { role, scopes, signingAuthority }: MemberPermissions): boolean {
  if (giver.role === 'owner') return true
  const has = scopes.every((scope) => giver.scopes.includes(scope)) && (giver.signingAuthority || !signingAuthority)
  return role !== 'owner' && !scopes.includes('manage_org') && has
}

/** Checks if the second permissions include more than the first. Every member has read. */
function escalatesPermissions(
  { scopes: had, signingAuthority: bound }: MemberPermissions,
  { scopes, signingAuthority }: MemberPermissions,
): boolean {
  return scopes.some((scope) => !had.includes(scope)) || (signingAuthority && !bound)
}

const membersDefault = 100

type MemberQuery = { cursor?: string; limit?: string; q?: string; role?: OrganizationRole }

type MemberPage = { members: OrganizationMember[]; nextCursor?: string | null; total?: number }

type ListingMembers = { session: Session; member: Pick<Member, 'organization' | 'scopes'> }

/**
 * Lists the members of an organization, or those that match. A caller can request pages; the result then contains the
 * start of the next page, and the first one the number of all. Only members who may invite see addresses. Throws
 * `rate_limited`; the next page of all members does not count.
 */
export async function listOrganizationMembers(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  { session, member: { organization, scopes } }: ListingMembers,
  { cursor, limit, q, role }: MemberQuery,
  now: Date,
): Promise<MemberPage> {
  const { organizationId } = organization
  const listing = { rateLimits, session }
  const filter = { q, role, searchesEmails: scopes.includes('manage_identities') }
  const toShown = (row: MemberRow) => toOrganizationMember(row, filter.searchesEmails)
  if (cursor === undefined && limit === undefined) {
    const read = (after: string | undefined, count: number) =>
      memberStore.listMembers(db, organizationId, { after, count, filter })
    return { members: (await listAllMembers(listing, read, now)).map(toShown) }
  }
  if (cursor === undefined || q !== undefined || role !== undefined) await countMemberList(listing, now)
  const count = Number(limit ?? membersDefault)
  // One row more than requested shows that there is a next page.
  const found = await memberStore.listMembers(db, organizationId, { after: cursor, count: count + 1, filter })
  const members = found.slice(0, count).map(toShown)
  const nextCursor = found.length > count ? (members.at(-1)?.memberId ?? null) : null
  if (cursor !== undefined) return { members, nextCursor }
  return { members, nextCursor, total: await memberStore.countMembers(db, organizationId, filter) }
}

/** Gets a member of an organization. Throws `member_not_found`. */
export async function getMember(
  db: Database,
  { organization, scopes }: Pick<Member, 'organization' | 'scopes'>,
  memberId: string,
): Promise<OrganizationMember> {
  const found = await memberStore.findMember(db, organization.organizationId, memberId)
  if (!found) throw errors.member_not_found()
  return toOrganizationMember(found, scopes.includes('manage_identities'))
}

/** Gets a member to be changed or removed, by member id. */
export type MemberTarget = MemberContext & { memberId: string }

/**
 * Updates the role and permissions of a member. Throws the errors of `requireMember` and `recordSignedAction`,
 * `member_not_found`, `invalid_request`, `insufficient_scope`, `signatory_protected`, `last_owner`. Throws the errors
 * of `requireFresh` if an owner is affected, the member gets more permissions, or a signatory is suspended.
 */
export async function updateMember(
  { db, config }: ServerContext,
  asking: MemberTarget,
  { role, scopes, signingAuthority }: MemberChange,
  now: Date,
): Promise<OrganizationMember> {
  const { organizationId, memberId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    const before = await memberStore.findMember(tx, organizationId, memberId)
    if (!before) throw errors.member_not_found()
    const begins = role === undefined || role === before.role ? before : permissionsOfRole(role)
    const after = {
      role: begins.role,
      scopes: [...(scopes ?? begins.scopes)],
      signingAuthority: signingAuthority ?? begins.signingAuthority,
    }
    requireFitting(after)
    requireGrantablePermissions(acting, before)
    requireGrantablePermissions(acting, after)
    const isOfOwner = before.role === 'owner' || after.role === 'owner'
    const givesNothing = !isOfOwner && !escalatesPermissions(before, after)
    if (!givesNothing) requireRecentAuthenticationForAction(asking, now)

    if (before.role !== 'owner' && after.role === 'owner') await memberStore.incrementOwnerCount(tx, organizationId)
    const steppedDown = before.role === 'owner' && after.role !== 'owner'
    if (steppedDown && !(await memberStore.decrementOwnerCount(tx, organizationId, 1))) throw errors.last_owner()
    const namedByDirectory = givesNothing ? before.namedByDirectory : isNamedByDirectory(acting, before)
    await memberStore.updateMember(tx, { organizationId, memberId, ...after, namedByDirectory })
    const may = {
      maySign: after.signingAuthority && after.scopes.includes('sign'),
      mayApprove: after.scopes.includes('approve'),
    }
    const identityIds = [before.identityId]
    const suspended = await suspendSignatoriesWithout(tx, organizationId, { identityIds, ...may }, now)
    if (suspended > 0 && before.identityId !== acting.identityId) requireOwner(acting)
    const by = { actor: 'user', userId: asking.session.userId, identityId: acting.identityId } as const
    await revokeLostInvitations(tx, { organizationId, by, before, after }, now)
    const details = { memberId, memberIdentityId: before.identityId, ...after, roleBefore: before.role }
    const action = 'organization.member.updated'
    // A session alone could suspend a whole council, which only its remaining members restore.
    const isHarmless = givesNothing && suspended === 0
    const act = { action, details, from: toFrom(before), givesNothing: isHarmless } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
    return toOrganizationMember({ ...before, ...after }, true)
  })
}

type ChangedMember = { organizationId: OrganizationId; by: Revoker; before: MemberRow; after: MemberPermissions }

/**
 * If a member loses permissions, revokes the invitations that they could not create any more, and those to them, with
 * which they would leave and get the permissions again.
 */
async function revokeLostInvitations(
  tx: Transaction,
  { organizationId, by, before, after }: ChangedMember,
  now: Date,
): Promise<void> {
  const isOwnerNoMore = before.role === 'owner' && after.role !== 'owner'
  if (!isOwnerNoMore && !escalatesPermissions(after, before)) return
  const { identityId } = before
  const isForThem = await isForMembers(tx, organizationId, [identityId])
  const isLost = ({ invitedBy, role }: OpenInvitation) => invitedBy === identityId && !mayInvite(after, role)
  await revokeInvitations(tx, { organizationId, by }, (each) => isForThem(each) || isLost(each), now)
}

function mayInvite(giver: MemberPermissions, role: OrganizationRole): boolean {
  return giver.scopes.includes('manage_identities') && mayGrant(giver, permissionsOfRole(role))
}

/** Throws `signatory_protected` unless the member is an owner: no one else suspends another signatory of a council. */
function requireOwner({ role }: MemberPermissions): void {
  if (role !== 'owner') throw errors.signatory_protected()
}

/** Lists what a change of a member changes, for those who sign it. */
function toFrom({ identityId, role, scopes, signingAuthority }: MemberRow) {
  return { identityId, role, scopes, signingAuthority }
}

type Named = { role: OrganizationRole; namedByDirectory: boolean }

/**
 * Checks if only a directory has granted the permissions that a member gives to another. An owner always grants them
 * personally.
 */
function isNamedByDirectory(giver: Named, before: Named): boolean {
  return giver.role !== 'owner' && (giver.namedByDirectory || before.namedByDirectory)
}

/** Throws `invalid_request` for a combination of role and permissions that is not allowed. */
function requireFitting({ role, scopes }: MemberPermissions): void {
  if (!scopes.includes('read')) throw errors.invalid_request()
  if (role === 'owner' && scopes.length !== scopesOfRole.owner.length) throw errors.invalid_request()
}

/**
 * Removes a member and revokes their tokens for the organization. Every member can leave. Throws the errors of
 * `requireMember` and `recordSignedAction`, `member_not_found`, `insufficient_scope`, `signatory_protected`,
 * `last_owner`, and `reauthentication_required` if another member removes an owner or a signatory.
 */
export async function removeMember({ db, config }: ServerContext, asking: MemberTarget, now: Date): Promise<void> {
  const { organizationId, memberId, session } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const leaving = await findOwnMembership(tx, session, { organizationId, memberId })
    const acting = leaving ?? (await requireMember({ db: tx, config }, asking, 'manage_identities', now))
    const member = await memberStore.findMember(tx, organizationId, memberId)
    if (!member) throw errors.member_not_found()
    if (!leaving) requireGrantablePermissions(acting, member)
    const givesNothing = leaving !== undefined || member.role !== 'owner'
    if (!givesNothing) requireRecentAuthenticationForAction(asking, now)

    if (member.role === 'owner' && !(await memberStore.decrementOwnerCount(tx, organizationId, 1)))
      throw errors.last_owner()
    const { identityId } = member
    const by = { actor: 'user', userId: session.userId, identityId: acting.identityId } as const
    const suspended = await removeMembers(tx, { organizationId, identityIds: [identityId], by }, now)
    if (suspended > 0 && !leaving) requireOwner(acting)
    await leaveGroupsOfOrganization(tx, { organizationId, identityIds: [identityId] }, now)
    const details = { memberId, memberIdentityId: identityId, role: member.role }
    const unsigned = leaving !== undefined
    const act = {
      action: 'organization.member.removed',
      details,
      from: toFrom(member),
      givesNothing: givesNothing && (unsigned || suspended === 0),
      unsigned,
    } as const
    await recordSignedAction(tx, { asking, acting }, act, now)
  })
}

type Joining = {
  organizationId: OrganizationId
  identityId: IdentityId
  role: OrganizationRole
  namedByDirectory: boolean
  /** The address to which they were invited. */
  invitedEmail?: string | null
}

/**
 * Adds an identity to an organization that this transaction has locked, and revokes the other invitations to it: with
 * them it would come back after a removal. Returns the member id, or undefined if the identity is already a member.
 */
export async function joinOrganization(tx: Transaction, { role, ...joining }: Joining, now: Date) {
  const { scopes, signingAuthority } = permissionsOfRole(role)
  const memberId = randomUUIDv7()
  if (!(await memberStore.insertMember(tx, { ...joining, memberId, role, scopes: [...scopes], signingAuthority }, now)))
    return undefined
  const { organizationId, identityId } = joining
  if (role === 'owner') await memberStore.incrementOwnerCount(tx, organizationId)
  const isForThem = await isForMembers(tx, organizationId, [identityId])
  await revokeInvitations(tx, { organizationId, by: { actor: 'system' } }, isForThem, now)
  return memberId
}

function toOrganizationMember(row: MemberRow, showsEmail: boolean): OrganizationMember {
  const { memberId, identityId, handle, displayName, role, scopes, signingAuthority, joinedAt, avatarUrl } = row
  const shown = { memberId, identityId, handle, displayName, role, scopes, signingAuthority }
  return { ...shown, joinedAt: joinedAt.toISOString(), avatarUrl, ...(showsEmail && { email: row.shownEmail }) }
}

type Provisioned = {
  userId: UserId
  organizationId: OrganizationId
  identityId: IdentityId
  role: OrganizationRole
  namedByDirectory: boolean
}

/**
 * Adds an identity as a member because the organization's SSO has named it. The caller has locked the organization.
 * Throws `identity_not_found`, `too_many_organizations`, `already_member`.
 */
export async function addProvisionedMember(tx: Transaction, { userId, ...joining }: Provisioned, now: Date) {
  const { organizationId, identityId, role } = joining
  if (!(await lockActiveIdentity(tx, identityId, now))) throw errors.identity_not_found()
  if ((await store.countMemberships(tx, identityId)) >= limits.organizationsPerIdentityMax)
    throw errors.too_many_organizations()
  const memberId = await joinOrganization(tx, joining, now)
  if (!memberId) throw errors.already_member()
  const act = { action: 'organization.member.joined', actor: 'user', userId, identityId, organizationId } as const
  await recordAuditEvent(tx, { ...act, details: { memberId, role, by: 'sso' } }, now)
  return { memberId }
}

type Leaving = { organizationId: OrganizationId; memberId: string; connectionId: string }

/**
 * Removes a member because the organization's directory says so, with the same effects as a removal by another member.
 * Does nothing if the identity is not a member. The caller has locked the organization. Throws `last_owner`.
 */
export async function removeDeprovisionedMember(
  tx: Transaction,
  { organizationId, memberId, connectionId }: Leaving,
  now: Date,
) {
  const member = await memberStore.findMember(tx, organizationId, memberId)
  if (!member) return
  const { identityId, role } = member
  if (role === 'owner' && !(await memberStore.decrementOwnerCount(tx, organizationId, 1)))
    throw errors.last_owner({
      sentence: 'This is the last owner of the organization. Make another member an owner first.',
    })
  await removeMembers(tx, { organizationId, identityIds: [identityId], by: { actor: 'system' } }, now)
  await leaveGroupsOfOrganization(tx, { organizationId, identityIds: [identityId] }, now)
  const details = { memberId, memberIdentityId: identityId, role, by: 'scim', connectionId }
  await recordAuditEvent(tx, { action: 'organization.member.removed', actor: 'system', organizationId, details }, now)
}
