import { record } from '#platform/audit/audit.ts'
import type { Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { queueLogouts } from '#accounts/sessions/logout.ts'
import { revokeLineagesOfOrganization } from '#tokens/families/family.ts'
import { endEnterpriseSessions } from '#tokens/families/session.ts'
import * as invitationStore from './invitation-store.ts'
import * as keysStore from '#organizations/keys/store.ts'
import * as memberStore from './member-store.ts'
import { giveUpSlugs } from './slug.ts'
import * as store from './store.ts'

const refuse = refusals({
  last_owner: [409, 'You are the last owner of an organization that has other members. Make one of them an owner.'],
})

type Removing = { organizationId: string; createdAt: Date; userId: string; identityIds: string[] }

/**
 * Deletes an organization that this transaction has locked, and ends what people gave to apps for it. `userId` is who
 * does so, as a member by `identityIds`.
 */
export async function removeOrganization(
  tx: Transaction,
  { identityIds, ...organization }: Removing,
  now: Date,
): Promise<void> {
  const { organizationId } = organization
  await endAccess(tx, { organizationId }, now)
  const hasOthers = await memberStore.hasOtherMembers(tx, organizationId, identityIds)
  await giveUpSlugs(tx, { ...organization, hasOthers }, now)
  await store.deleteOrganization(tx, organizationId)
}

/** The same for some of its members, who may have its key. That an owner is left, the caller has seen to. */
export async function removeMembers(tx: Transaction, of: Required<Ending>, now: Date): Promise<void> {
  await endAccess(tx, of, now)
  await keysStore.markKeyInForce(tx, of, now)
  await invitationStore.withdrawAllBy(tx, of.organizationId, of.identityIds)
  await memberStore.deleteMembers(tx, of.organizationId, of.identityIds)
}

/** All members of an organization, or these identities of one person. */
type Ending = { organizationId: string; identityIds?: string[] }

/** Ends tokens for an organization, and the sessions that it opened with the codes that they gave. */
export async function endAccess(tx: Transaction, of: Ending, now: Date): Promise<void> {
  await revokeLineagesOfOrganization(tx, of, now)
  await queueLogouts(tx, of, now)
  await endEnterpriseSessions(tx, of, now)
}

/**
 * Takes identities that are going out of their organizations. Where they were alone the organization goes with them.
 * Refuses `last_owner`, which names the organizations that would be without an owner; a suspended one may be.
 */
export async function leaveOrganizations(
  tx: Transaction,
  { userId, identityIds }: { userId: string; identityIds: string[] },
  now: Date,
): Promise<void> {
  const withoutOwner: string[] = []
  await invitationStore.deleteInvitationsOf(tx, identityIds)
  const held = []
  for (const organizationId of await store.listOrganizationsOf(tx, identityIds)) {
    const organization = await store.lockOrganization(tx, organizationId)
    if (organization) held.push(organization)
  }
  // Of all identities in one statement, whichever organizations they leave: that keeps the times of any two apart.
  await queueLogouts(tx, { identityIds }, now)
  for (const { organizationId, name, createdAt } of held) {
    const leaving = await memberStore.listRoles(tx, organizationId, identityIds)
    const [first] = leaving
    if (!first) continue
    const place = { actor: 'person', userId, organizationId } as const
    if (!(await memberStore.hasOtherMembers(tx, organizationId, identityIds))) {
      await removeOrganization(tx, { organizationId, createdAt, userId, identityIds }, now)
      await record(tx, { action: 'organization.deleted', ...place, identityId: first.identityId }, now)
      continue
    }
    const owners = leaving.filter(({ role }) => role === 'owner').length
    if (owners > 0 && !(await mayOwnersGo(tx, organizationId, owners))) withoutOwner.push(name)
    await removeMembers(tx, { organizationId, identityIds: leaving.map(({ identityId }) => identityId) }, now)
    for (const { identityId, memberId } of leaving)
      await record(tx, { action: 'organization.member.removed', ...place, identityId, details: { memberId } }, now)
  }
  if (withoutOwner.length > 0) throw refuse.last_owner({ fields: { organizations: withoutOwner } })
}

/** Counts so many owners less. The last ones may leave only a suspended organization: there they can name no other. */
async function mayOwnersGo(tx: Transaction, organizationId: string, count: number): Promise<boolean> {
  return (
    (await memberStore.uncountOwners(tx, organizationId, count)) ||
    (await memberStore.uncountOwnersOfSuspended(tx, organizationId, count))
  )
}
