/** How far the tokens of an app reach into the organizations of a user, the least first. */
export const organizationAccessLevels = ['none', 'read', 'create'] as const
export type OrganizationAccess = (typeof organizationAccessLevels)[number]

/** The lesser of two levels. */
export function narrowerAccess(one: OrganizationAccess, other: OrganizationAccess): OrganizationAccess {
  return organizationAccessLevels.find((level) => level === one || level === other) ?? 'none'
}
