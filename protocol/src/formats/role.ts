/** Permissions of a member in an organization, in display order. */
export const organizationScopes = [
  'read',
  'sign',
  'approve',
  'manage_identities',
  'manage_keys',
  'manage_sso',
  'manage_org',
] as const
export type OrganizationScope = (typeof organizationScopes)[number]

/** Roles with their default permissions. */
export const scopesOfRole = {
  owner: organizationScopes,
  admin: ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso'],
  signer: ['read', 'sign', 'approve'],
  member: ['read'],
  viewer: ['read'],
} as const satisfies Record<string, readonly OrganizationScope[]>
export type OrganizationRole = keyof typeof scopesOfRole

/** Encryption modes of an organization, with the key custody of each. */
export const keyCustodyOfMode = {
  standard: 'svc_standard',
  enterprise_managed: 'customer_kms',
  e2ee: 'identity_grants',
} as const
