/** Levels of an app's access to the organizations of a user, lowest first. */
export const organizationAccessLevels = ['none', 'read', 'create'] as const
export type OrganizationAccess = (typeof organizationAccessLevels)[number]

/** Returns the lower of two levels. */
export function narrowerAccess(one: OrganizationAccess, other: OrganizationAccess): OrganizationAccess {
  return organizationAccessLevels.find((level) => level === one || level === other) ?? 'none'
}
