import {
  type OrganizationRole,
  type OrganizationScope,
  organizationScopes,
  scopesOfRole,
} from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'

const ranks = Object.keys(scopesOfRole)

/**
 * Returns each organization once. If several identities of the user are members, the one with the highest role counts.
 */
export function uniqueBy(memberships: OwnOrganization[]): OwnOrganization[] {
  const highestFirst = memberships.toSorted((one, other) => ranks.indexOf(one.role) - ranks.indexOf(other.role))
  const highest = new Map(highestFirst.toReversed().map((membership) => [membership.id, membership]))
  return memberships.filter((membership) => highest.get(membership.id) === membership)
}

/** Applies a change of an organization to all memberships of the user in it. Their roles and permissions stay. */
export function replaceMembership(memberships: OwnOrganization[], changed: OwnOrganization): OwnOrganization[] {
  return memberships.map((each) => {
    if (each.id !== changed.id) return each
    const { memberId, identityId, role, scopes, signingAuthority } = each
    return { ...changed, memberId, identityId, role, scopes, signingAuthority }
  })
}

/** Applies a change of a member to the membership of the user that it is, if it is one. */
export function applyPermissions(
  memberships: OwnOrganization[],
  { memberId, role, scopes, signingAuthority }: Pick<OrganizationMember, 'memberId' | keyof OwnPermissions>,
): OwnOrganization[] {
  return memberships.map((each) => (each.memberId === memberId ? { ...each, role, scopes, signingAuthority } : each))
}

/** Returns the parts of a call that name the organization, and the identity that the user acts as. */
export function memberContext({ id, identityId }: Pick<OwnOrganization, 'id' | 'identityId'>) {
  return { params: { organizationId: id }, querystring: { identity_id: identityId } }
}

/** Returns the parts of a call that name a member of an organization. */
export function memberRef(organization: Parameters<typeof memberContext>[0], { memberId }: { memberId: string }) {
  const { params, querystring } = memberContext(organization)
  return { params: { ...params, memberId }, querystring }
}

/** Returns the parts of a call that name an SSO connection of an organization. */
export function connectionRef(
  organization: Parameters<typeof memberContext>[0],
  { connectionId }: { connectionId: string },
) {
  const { params, querystring } = memberContext(organization)
  return { params: { ...params, connectionId }, querystring }
}

type Own = Pick<OwnOrganization, 'role' | 'scopes'>
type OwnPermissions = Pick<OwnOrganization, keyof Own | 'signingAuthority'>

const roles = Object.keys(scopesOfRole).filter(isRole)

export function isRole(name: unknown): name is OrganizationRole {
  return typeof name === 'string' && Object.hasOwn(scopesOfRole, name)
}

/**
 * Returns whether a user may change or remove a member. Only owners may change owners and those who manage the
 * organization; others may change members without permissions beyond their own.
 */
export function canUpdate(own: OwnPermissions, member: Pick<OrganizationMember, keyof OwnPermissions>): boolean {
  if (!own.scopes.includes('manage_identities')) return false
  if (own.role === 'owner') return true
  const isOfOwners = member.role === 'owner' || member.scopes.includes('manage_org')
  return !isOfOwners && isWithin(member.scopes, own.scopes) && (own.signingAuthority || !member.signingAuthority)
}

/** Returns the roles that a user may assign. Users cannot assign more than they have, and only owners assign owners. */
export function assignableRoles(own: Own): OrganizationRole[] {
  return roles.filter((role) => own.role === 'owner' || (role !== 'owner' && isWithin(scopesOfRole[role], own.scopes)))
}

/** Returns the scopes that a user may assign, without the one that every member has. */
export function assignableScopes(own: Own): OrganizationScope[] {
  return organizationScopes.filter((scope) => scope !== 'read' && (own.role === 'owner' || own.scopes.includes(scope)))
}

function isWithin(scopes: readonly OrganizationScope[], others: OrganizationScope[]): boolean {
  return scopes.every((scope) => others.includes(scope))
}
