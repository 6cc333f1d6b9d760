/** What an operator or an admin token may do. Each endpoint of the admin API names the permission that it requires. */
export const permissions = [
  'apps.read',
  'apps.manage',
  'people.read',
  'people.activity',
  'people.export',
  'people.edit',
  'people.suspend',
  'people.delete',
  'people.recover',
  'people.invite',
  'organizations.read',
  'organizations.manage',
  'groups.read',
  'groups.manage',
  'keys.read',
  'keys.manage',
  'settings.read',
  'settings.manage',
  'configuration.export',
  'configuration.apply',
  'audit.read',
  'audit.export',
  'sinks.manage',
  'backup.create',
  'backup.restore',
  'operators.read',
  'operators.manage',
  'tokens.read',
  'tokens.manage',
  'statistics.read',
] as const

export type Permission = (typeof permissions)[number]

/** Role of an operator: a fixed set of permissions. */
export const operatorRoles = ['owner', 'people', 'apps', 'auditor'] as const

export type OperatorRole = (typeof operatorRoles)[number]

/**
 * Roles that hold each permission. A restored instance has no users and therefore no operators: only ADMIN_TOKEN
 * restores.
 */
export const rolesOfPermission: Record<Permission, readonly OperatorRole[]> = {
  'apps.read': ['owner', 'apps', 'auditor'],
  'apps.manage': ['owner', 'apps'],
  'people.read': ['owner', 'people', 'auditor'],
  'people.activity': ['owner', 'auditor'],
  'people.export': ['owner'],
  'people.edit': ['owner', 'people'],
  'people.suspend': ['owner', 'people'],
  'people.delete': ['owner'],
  'people.recover': ['owner', 'people'],
  'people.invite': ['owner', 'people'],
  'organizations.read': ['owner', 'people', 'auditor'],
  'organizations.manage': ['owner'],
  'groups.read': ['owner', 'people', 'auditor'],
  'groups.manage': ['owner', 'people'],
  'keys.read': ['owner', 'apps', 'auditor'],
  'keys.manage': ['owner'],
  'settings.read': ['owner', 'auditor'],
  'settings.manage': ['owner'],
  'configuration.export': ['owner', 'people', 'apps', 'auditor'],
  'configuration.apply': ['owner', 'people', 'apps'],
  'audit.read': ['owner', 'auditor'],
  'audit.export': ['owner', 'auditor'],
  'sinks.manage': ['owner'],
  'backup.create': ['owner'],
  'backup.restore': [],
  'operators.read': ['owner', 'auditor'],
  'operators.manage': ['owner'],
  'tokens.read': ['owner', 'auditor'],
  'tokens.manage': ['owner'],
  'statistics.read': ['owner', 'people', 'apps', 'auditor'],
}

/** Returns the permissions of a role. */
export function permissionsOf(role: OperatorRole): Permission[] {
  return permissions.filter((permission) => rolesOfPermission[permission].includes(role))
}

/** Permissions with which a token could outlive or exceed the operator who created it. */
const neverOfTokens: readonly Permission[] = ['people.recover', 'backup.restore', 'operators.manage', 'tokens.manage']

/** Permissions that an admin token may have. */
export const tokenPermissions = permissions.filter((permission) => !neverOfTokens.includes(permission))
