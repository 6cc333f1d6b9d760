/**
 * The `ctx` header of a ciphertext: its content and its owner. A ciphertext moved to another place fails to decrypt
 * there because its context differs.
 */
export const ciphertextContext = {
  masterKey: (userId: string) => `master-key:${userId}`,
  signingKey: (identityId: string) => `signing-key:${identityId}`,
  encryptionKey: (identityId: string) => `encryption-key:${identityId}`,
  /** What a user's browser knows of their keys: as the service stores it, and as one device remembers it. */
  selfRecord: (userId: string, place: 'service' | 'device') =>
    place === 'service' ? `self-record:${userId}` : `self-record-memory:${userId}`,
  appKey: (identityId: string, clientId: string) => `app-key/2:${identityId}:${clientId}`,
  /** Fragment encrypted to a key of the app's page. */
  appKeyFragment: () => 'app-key-fragment',
  /** Master key in transit between two devices of its owner. */
  deviceApproval: (approvalId: string) => `device-approval:${approvalId}`,
  /** Organization key in transit to one of its members. */
  organizationKey: ({ organizationId, fingerprint, identityId }: OrganizationKeyWrapContext) =>
    `organization-key:${organizationId}:${fingerprint}:${identityId}`,
} as const

/** Organization, key and recipient of a key wrap. */
export type OrganizationKeyWrapContext = { organizationId: string; fingerprint: string; identityId: string }
