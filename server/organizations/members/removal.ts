import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Transaction } from '#platform/database/database.ts'
import type { Endings } from '#platform/module/lifecycle.ts'
import { deletePictures } from '#platform/pictures/picture.ts'
import { defineErrors } from '#platform/api-error.ts'
import { deleteGroupsOfOrganization } from '#accounts/groups/upstream.ts'
import { queueLogouts } from '#accounts/backchannel-logout/logout.ts'
import { revokeFamiliesOfOrganization } from '#tokens/families/family.ts'
import { endEnterpriseSessions } from '#tokens/families/session.ts'
import * as invitationStore from './invitations/invitation-store.ts'
import type { OpenInvitation } from './invitations/invitation-store.ts'
import { isForMembers, type Revoker, revokeInvitations } from './invitations/revocation.ts'
import { deleteGrantsOfOrganization } from '#organizations/keys/former-grant.ts'
import { requestKeyRotation } from '#organizations/keys/key-rotation.ts'
import { deleteSignatoriesOf, suspendSignatoriesWithout } from '#organizations/membership/council/council.ts'
import { lockOrganization } from '#organizations/membership/member.ts'
import { endAccess } from './ending.ts'
import * as memberStore from './member-store.ts'
import { giveUpSlugs } from './slug.ts'
import * as store from './store.ts'

const errors = defineErrors({
  last_owner: [409, 'You are the last owner of an organization with other members. Make one of them an owner first.'],
})

type Removing = { organizationId: OrganizationId; createdAt: Date; userId: UserId; identityIds: IdentityId[] }

/**
 * Deletes an organization that this transaction has locked, and revokes the tokens and authorizations for it. `userId`
 * is the acting user, who is a member with `identityIds`.
 */
export async function purgeOrganization(
  tx: Transaction,
  { identityIds, ...organization }: Removing,
  now: Date,
): Promise<void> {
  const { organizationId } = organization
  await endAccess(tx, organizationId, now)
  const hasOthers = await memberStore.hasOtherMembers(tx, organizationId, identityIds)
  await giveUpSlugs(tx, { ...organization, hasOthers }, now)
  await deleteGroupsOfOrganization(tx, organizationId, now)
  await deletePictures(tx, [organizationId])
  await deleteGrantsOfOrganization(tx, organizationId)
  await store.deleteOrganization(tx, organizationId)
}

/**
 * Ends the access of some members, who can have the organization's key, and revokes the open invitations by them and to
 * them. Signatories among them are suspended; returns their number. The caller has made sure that an owner remains, and
 * ends memberships in the organization's groups: a deletion of identities does so in all groups at once, in the order
 * in which groups are locked.
 */
export async function removeMembers(tx: Transaction, of: Leaving & { by: Revoker }, now: Date): Promise<number> {
  const { organizationId, identityIds } = of
  await revokeAccess(tx, of, now)
  await requestKeyRotation(tx, of, now)
  const isForThem = await isForMembers(tx, organizationId, identityIds)
  const isByThem = ({ invitedBy }: OpenInvitation) => identityIds.includes(invitedBy)
  await revokeInvitations(tx, of, (invitation) => isByThem(invitation) || isForThem(invitation), now)
  await memberStore.deleteMembers(tx, organizationId, identityIds)
  return suspendSignatoriesWithout(tx, organizationId, { identityIds, maySign: false, mayApprove: false }, now)
}

/** Identities of one user who leave an organization. */
type Leaving = { organizationId: OrganizationId; identityIds: IdentityId[] }

/** Revokes tokens for an organization, the sessions that its SSO opened, and the codes issued in these sessions. */
async function revokeAccess(tx: Transaction, of: Leaving, now: Date): Promise<void> {
  await revokeFamiliesOfOrganization(tx, of, now)
  await queueLogouts(tx, of, now)
  await endEnterpriseSessions(tx, of, now)
}

/**
 * Locks the organizations of identities that are being suspended until the transaction ends. A change that one of them
 * has begun as a member completes first.
 */
export async function holdOrganizations(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  for (const organizationId of await store.listOrganizationsOf(tx, identityIds))
    await lockOrganization(tx, organizationId)
}

const actorOf = { self: 'user', operator: 'operator', scim: 'operator', system: 'system' } as const

/**
 * Removes identities that are being deleted from their organizations. Organizations without other members are deleted
 * too. Throws `last_owner` with the organizations that would have no owner; only a suspended organization can be left
 * without one.
 */
export async function removeFromOrganizations(
  tx: Transaction,
  { userId, identityIds, by }: Endings['identities'],
  now: Date,
): Promise<void> {
  const withoutOwner: string[] = []
  const held = []
  for (const organizationId of await store.listOrganizationsOf(tx, identityIds)) {
    const organization = await lockOrganization(tx, organizationId)
    if (organization) held.push(organization)
  }
  // One statement covers all identities and organizations, so that the response time reveals nothing about their
  // number.
  await queueLogouts(tx, { identityIds }, now)
  for (const { organizationId, name, createdAt } of held) {
    const leaving = await memberStore.listRoles(tx, organizationId, identityIds)
    const [first] = leaving
    if (!first) continue
    const place = { actor: actorOf[by], userId, organizationId } as const
    if (!(await memberStore.hasOtherMembers(tx, organizationId, identityIds))) {
      await purgeOrganization(tx, { organizationId, createdAt, userId, identityIds }, now)
      await recordAuditEvent(tx, { action: 'organization.deleted', ...place, identityId: first.identityId }, now)
      continue
    }
    const owners = leaving.filter(({ role }) => role === 'owner').length
    if (owners > 0 && !(await mayOwnersGo(tx, organizationId, owners))) withoutOwner.push(name)
    const gone = leaving.map(({ identityId }) => identityId)
    // Without a name: one of several identities would look like the user of the others.
    await removeMembers(tx, { organizationId, identityIds: gone, by: { actor: 'system' } }, now)
    for (const { identityId, memberId } of leaving)
      await recordAuditEvent(
        tx,
        { action: 'organization.member.removed', ...place, identityId, details: { memberId } },
        now,
      )
  }
  if (withoutOwner.length > 0) throw errors.last_owner({ fields: { organizations: withoutOwner } })
  // After the revocations that are recorded. Who holds one of these organizations may be revoking an invitation.
  await invitationStore.deleteInvitationsOf(tx, identityIds)
  // Also where the identities are no longer members.
  await deleteSignatoriesOf(tx, identityIds)
}

/**
 * Decreases the owner count. The last owners can only leave a suspended organization, because they cannot name a
 * successor there.
 */
async function mayOwnersGo(tx: Transaction, organizationId: OrganizationId, count: number): Promise<boolean> {
  return (
    (await memberStore.decrementOwnerCount(tx, organizationId, count)) ||
    (await memberStore.uncountOwnersOfSuspended(tx, organizationId, count))
  )
}
