import { limits } from '@countersign/protocol/formats/limits'
import type { OrganizationRole } from '@countersign/protocol/formats/role'
import { holdIdentity } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import { removeMembers } from './departure.ts'
import { joinOrganization } from './member.ts'
import * as memberStore from './member-store.ts'
import * as store from './store.ts'

const refuse = refusals({
  identity_not_found: [404, 'None of your identities has this id.'],
  already_member: [409, 'This identity is a member already.'],
  last_owner: [409, 'This is the last owner of the organization. Make somebody else one first.'],
  sso_in_use: [409, 'Everybody must sign in with this connection. Turn ssoRequired off first.'],
  too_many_organizations: [409, 'This identity is in as many organizations as it may be.'],
})

/** An organization that is active, for its own sign-in; undefined where there is none. */
export async function findActiveOrganization(db: Database, organizationId: string) {
  const organization = await store.findOrganization(db, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/** The same, which nobody changes until the transaction ends, nor its members. */
export async function holdOrganization(tx: Transaction, organizationId: string) {
  const organization = await store.lockOrganization(tx, organizationId)
  return organization?.status === 'active' ? organization : undefined
}

/** Sets with which connection people sign in where they must. Refuses `sso_in_use` where they must, and it is none. */
export async function chooseSsoConnection(tx: Transaction, organizationId: string, connectionId: string | null) {
  if (!(await store.updateSsoConnection(tx, organizationId, connectionId))) throw refuse.sso_in_use()
}

type Joining = {
  userId: string
  organizationId: string
  identityId: string
  role: OrganizationRole
  namedByDirectory: boolean
}

/**
 * Makes an identity a member whom the organization's own sign-in has named; the caller holds the organization. Refuses
 * `identity_not_found`, `too_many_organizations`, `already_member`.
 */
export async function joinAsNamed(tx: Transaction, { userId, ...joining }: Joining, now: Date) {
  const { organizationId, identityId, role } = joining
  if (!(await holdIdentity(tx, identityId))) throw refuse.identity_not_found()
  if ((await store.countMemberships(tx, identityId)) >= limits.organizationsPerIdentityMax)
    throw refuse.too_many_organizations()
  const memberId = await joinOrganization(tx, joining, now)
  if (!memberId) throw refuse.already_member()
  const act = { action: 'organization.member.joined', actor: 'person', userId, identityId, organizationId } as const
  await record(tx, { ...act, details: { memberId, role, by: 'sso' } }, now)
  return { memberId }
}

type Leaving = { organizationId: string; memberId: string; connectionId: string }

/**
 * Removes a member because the organization's directory says so, as a member may be removed by another; nothing where
 * they are none any more. The caller holds the organization. Refuses `last_owner`.
 */
export async function removeAsDirected(
  tx: Transaction,
  { organizationId, memberId, connectionId }: Leaving,
  now: Date,
) {
  const member = await memberStore.findMember(tx, organizationId, memberId)
  if (!member) return
  const { identityId, role } = member
  if (role === 'owner' && !(await memberStore.uncountOwners(tx, organizationId, 1))) throw refuse.last_owner()
  await removeMembers(tx, { organizationId, identityIds: [identityId] }, now)
  const details = { memberId, memberIdentityId: identityId, role, by: 'scim', connectionId }
  await record(tx, { action: 'organization.member.removed', actor: 'system', organizationId, details }, now)
}
