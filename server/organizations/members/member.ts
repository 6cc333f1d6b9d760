import { randomUUIDv7 } from 'node:crypto'
import type { OrganizationRole, OrganizationScope } from '@countersign/protocol/formats/role'
import { scopesOfRole } from '@countersign/protocol/formats/role'
import type { MemberChange, OrganizationMember } from '@countersign/protocol/organizations/organizations'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import {
  actingMemberTransaction,
  findOwnMembership,
  requireMember,
  type Asking,
} from '#organizations/membership/access.ts'
import { removeMembers } from './departure.ts'
import * as invitationStore from './invitation-store.ts'
import * as memberStore from './member-store.ts'
import type { MemberRow } from './member-store.ts'
import { recordAct, requireFreshToAct } from '#organizations/membership/signed-action.ts'

const refuse = refusals({
  invalid_request: [400, 'Every member may read, and an owner may do everything.'],
  insufficient_scope: [403, 'You may not give what you do not have yourself, nor take it from others.'],
  member_not_found: [404, 'This organization has no such member.'],
  last_owner: [409, 'An organization has an owner. Make somebody else one first, or delete the organization.'],
})

/** What a member is and may do. */
export type Rights = { role: OrganizationRole; scopes: readonly OrganizationScope[]; signingAuthority: boolean }

/** The rights with which a role begins. */
export function rightsOfRole(role: OrganizationRole): Rights {
  const scopes: readonly OrganizationScope[] = scopesOfRole[role]
  return { role, scopes, signingAuthority: scopes.includes('sign') }
}

/** Refuses `insufficient_scope` where somebody would give or take more than they have themselves. */
export function requireNoMore(giver: Rights, { role, scopes, signingAuthority }: Rights): void {
  if (giver.role === 'owner') return
  const has = scopes.every((scope) => giver.scopes.includes(scope)) && (giver.signingAuthority || !signingAuthority)
  if (role === 'owner' || scopes.includes('manage_org') || !has) throw refuse.insufficient_scope()
}

/** Whether a member may do more with the second rights than with the first; every member may read. */
function gains({ scopes: had, signingAuthority: bound }: Rights, { scopes, signingAuthority }: Rights): boolean {
  return scopes.some((scope) => !had.includes(scope)) || (signingAuthority && !bound)
}

const membersDefault = 100

type Paging = { cursor?: string; limit?: string }

/** The members of an organization; of many a page, with where the next one begins, for whoever asks for that. */
export async function listOrganizationMembers(
  db: Database,
  organizationId: string,
  { cursor, limit }: Paging,
): Promise<{ members: OrganizationMember[]; nextCursor?: string | null }> {
  if (cursor === undefined && limit === undefined)
    return { members: (await memberStore.listMembers(db, organizationId)).map(toOrganizationMember) }
  const count = Number(limit ?? membersDefault)
  // One more than asked tells that there is a next page.
  const found = await memberStore.listMembers(db, organizationId, { after: cursor, count: count + 1 })
  const members = found.slice(0, count).map(toOrganizationMember)
  return { members, nextCursor: found.length > count ? (members.at(-1)?.memberId ?? null) : null }
}

/** A member of an organization. Refuses `member_not_found`. */
export async function readMember(db: Database, organizationId: string, memberId: string): Promise<OrganizationMember> {
  const found = await memberStore.findMember(db, organizationId, memberId)
  if (!found) throw refuse.member_not_found()
  return toOrganizationMember(found)
}

/** A member to be changed or removed, by their id. */
export type MemberSought = Asking & { memberId: string }

/**
 * Changes what a member is and may do. Refuses what `requireMember` and `recordAct` do, `member_not_found`,
 * `invalid_request`, `insufficient_scope`, `last_owner`, and what `requireFresh` does where it is about an owner, or
 * the member may do more then.
 */
export async function changeMember(
  { db, config }: Kernel,
  asking: MemberSought,
  { role, scopes, signingAuthority }: MemberChange,
  now: Date,
): Promise<OrganizationMember> {
  const { organizationId, memberId } = asking
  return actingMemberTransaction(db, asking, async (tx) => {
    const acting = await requireMember({ db: tx, config }, asking, 'manage_identities', now)
    const before = await memberStore.findMember(tx, organizationId, memberId)
    if (!before) throw refuse.member_not_found()
    const begins = role === undefined || role === before.role ? before : rightsOfRole(role)
    const after = {
      role: begins.role,
      scopes: [...(scopes ?? begins.scopes)],
      signingAuthority: signingAuthority ?? begins.signingAuthority,
    }
    requireFitting(after)
    requireNoMore(acting, before)
    requireNoMore(acting, after)
    const isOfOwner = before.role === 'owner' || after.role === 'owner'
    const givesNothing = !isOfOwner && !gains(before, after)
    if (!givesNothing) requireFreshToAct(asking, now)

    if (before.role !== 'owner' && after.role === 'owner') await memberStore.countOwner(tx, organizationId)
    const steppedDown = before.role === 'owner' && after.role !== 'owner'
    if (steppedDown && !(await memberStore.uncountOwners(tx, organizationId, 1))) throw refuse.last_owner()
    const namedByDirectory = givesNothing ? before.namedByDirectory : isNamedByDirectory(acting, before)
    await memberStore.updateMember(tx, { organizationId, memberId, ...after, namedByDirectory })
    // What they may not give any more they must not have given an hour ago.
    await invitationStore.withdrawAllBy(tx, organizationId, [before.identityId])
    const details = { memberId, memberIdentityId: before.identityId, ...after }
    const act = { action: 'organization.member.changed', details, givesNothing } as const
    await recordAct(tx, { asking, acting }, act, now)
    return toOrganizationMember({ ...before, ...after })
  })
}

type Named = { role: OrganizationRole; namedByDirectory: boolean }

/** Whether rights go back to a directory alone that a member gives another: an owner gives them by themselves. */
function isNamedByDirectory(giver: Named, before: Named): boolean {
  return giver.role !== 'owner' && (giver.namedByDirectory || before.namedByDirectory)
}

/** Refuses `invalid_request` for rights that nobody can have. */
function requireFitting({ role, scopes }: Rights): void {
  if (!scopes.includes('read')) throw refuse.invalid_request()
  if (role === 'owner' && scopes.length !== scopesOfRole.owner.length) throw refuse.invalid_request()
}

/**
 * Removes a member, whose tokens for the organization end with it; whoever is one themselves may leave. Refuses what
 * `requireMember` and `recordAct` do, `member_not_found`, `insufficient_scope`, `last_owner`, and
 * `reauthentication_required` where an owner is removed by another.
 */
export async function removeMember({ db, config }: Kernel, asking: MemberSought, now: Date): Promise<void> {
  const { organizationId, memberId, session } = asking
  await actingMemberTransaction(db, asking, async (tx) => {
    const leaving = await findOwnMembership(tx, session, { organizationId, memberId })
    const acting = leaving ?? (await requireMember({ db: tx, config }, asking, 'manage_identities', now))
    const member = await memberStore.findMember(tx, organizationId, memberId)
    if (!member) throw refuse.member_not_found()
    if (!leaving) requireNoMore(acting, member)
    const givesNothing = leaving !== undefined || member.role !== 'owner'
    if (!givesNothing) requireFreshToAct(asking, now)

    if (member.role === 'owner' && !(await memberStore.uncountOwners(tx, organizationId, 1))) throw refuse.last_owner()
    const { identityId } = member
    await removeMembers(tx, { organizationId, identityIds: [identityId] }, now)
    const details = { memberId, memberIdentityId: identityId, role: member.role }
    const unsigned = leaving !== undefined
    const act = { action: 'organization.member.removed', details, givesNothing, unsigned } as const
    await recordAct(tx, { asking, acting }, act, now)
  })
}

type Joining = { organizationId: string; identityId: string; role: OrganizationRole; namedByDirectory: boolean }

/**
 * Makes an identity a member of an organization that this transaction has locked, and answers the id of that; undefined
 * where it is one already.
 */
export async function joinOrganization(tx: Transaction, { role, ...joining }: Joining, now: Date) {
  const { scopes, signingAuthority } = rightsOfRole(role)
  const memberId = randomUUIDv7()
  if (!(await memberStore.insertMember(tx, { ...joining, memberId, role, scopes: [...scopes], signingAuthority }, now)))
    return undefined
  if (role === 'owner') await memberStore.countOwner(tx, joining.organizationId)
  return memberId
}

function toOrganizationMember(row: MemberRow): OrganizationMember {
  const { memberId, identityId, handle, displayName, role, scopes, signingAuthority, joinedAt } = row
  const shown = { memberId, identityId, handle, displayName, role, scopes, signingAuthority }
  return { ...shown, joinedAt: joinedAt.toISOString() }
}
