import type { AppRoles } from '@countersign/protocol/clients/roles'
import type { RequestOf } from '@countersign/protocol/api'

/** A role of an app with who has it: groups by key, identities by username. */
export type RoleView = { key: string; displayName: string; groups: string[]; handles: string[] }

/** A role with who has it, as the API takes it. */
export type Role = { key: string; displayName: string; groups: string[]; identities: string[] }

export function rolesOf({ roles, roleAssignments, identities }: AppRoles): RoleView[] {
  const handleOf = new Map(identities.map(({ identityId, handle }) => [identityId, handle]))
  return roles.map(({ key, displayName }) => {
    const assigned = roleAssignments.find(({ role }) => role === key)
    const handles = (assigned?.identities ?? []).flatMap((identityId) => handleOf.get(identityId) ?? [])
    return { key, displayName, groups: assigned?.groups ?? [], handles }
  })
}

/** All roles of an app and who has them, as the API takes them. */
export type RoleChange = RequestOf<'PUT /api/admin/apps/:clientId/roles'>['body']

export function hasRole({ roles }: AppRoles, key: string): boolean {
  return roles.some((role) => role.key === key)
}

/** Returns all roles with one of them added or replaced. */
export function withRole(before: AppRoles, { groups, identities, ...role }: Role): RoleChange {
  const isPresent = hasRole(before, role.key)
  const { roles, roleAssignments } = withoutRole(before, role.key)
  return {
    roles: isPresent ? before.roles.map((each) => (each.key === role.key ? role : each)) : [...roles, role],
    roleAssignments: [...roleAssignments, { role: role.key, groups, identities }],
  }
}

/** Returns all roles except one. */
export function withoutRole({ roles, roleAssignments }: AppRoles, key: string): RoleChange {
  return {
    roles: roles.filter((role) => role.key !== key),
    roleAssignments: roleAssignments.filter(({ role }) => role !== key),
  }
}
