/** What an operator or an admin token may do. Each endpoint of the admin API names the permission that it requires. */
export const permissions = [
  'apps.read',
  'apps.manage',
  'people.suspend',
  'people.read',
  'people.activity',
  'organizations.read',
  'organizations.manage',
  'groups.read',
  'groups.manage',
  'keys.read',
  'keys.manage',
  'audit.read',
  'backup.create',
  'backup.restore',
] as const

export type Permission = (typeof permissions)[number]
