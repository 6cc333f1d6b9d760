/** What a member may do in an organization, in the order in which it is told. */
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

/** The roles, and the scopes that each begins with. */
export const scopesOfRole = {
  owner: organizationScopes,
  admin: ['read', 'sign', 'approve', 'manage_identities', 'manage_keys', 'manage_sso'],
  signer: ['read', 'sign', 'approve'],
  member: ['read'],
  viewer: ['read'],
} as const satisfies Record<string, readonly OrganizationScope[]>
export type OrganizationRole = keyof typeof scopesOfRole

/** The modes in which an organization encrypts, and who keeps its keys in each. */
export const keyCustodyOfMode = {
  standard: 'svc_standard',
  enterprise_managed: 'customer_kms',
  e2ee: 'identity_grants',
} as const
