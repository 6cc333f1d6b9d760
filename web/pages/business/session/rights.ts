import {
  organizationScopes,
  scopesOfRole,
  type OrganizationRole,
  type OrganizationScope,
} from '@countersign/protocol/formats/role'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'

type Own = Pick<OwnOrganization, 'role' | 'scopes'>

const roles = Object.keys(scopesOfRole).filter(isRole)

function isRole(name: string): name is OrganizationRole {
  return Object.hasOwn(scopesOfRole, name)
}

/** Whether somebody may change or remove a member: of owners only owners may. */
export function mayChange({ role, scopes }: Own, member: Pick<OrganizationMember, 'role'>): boolean {
  return scopes.includes('manage_identities') && (role === 'owner' || member.role !== 'owner')
}

/** The roles that somebody may give: nobody gives more than they have, and owners alone make owners. */
export function rolesToGive(own: Own): OrganizationRole[] {
  return roles.filter((role) => own.role === 'owner' || (role !== 'owner' && isWithin(scopesOfRole[role], own.scopes)))
}

/** The scopes that somebody may give, beside the one that every member has. */
export function scopesToGive(own: Own): OrganizationScope[] {
  return organizationScopes.filter((scope) => scope !== 'read' && (own.role === 'owner' || own.scopes.includes(scope)))
}

function isWithin(scopes: readonly OrganizationScope[], others: OrganizationScope[]): boolean {
  return scopes.every((scope) => others.includes(scope))
}
