/**
 * The `ctx` header of a ciphertext: what it holds and whose it is. A ciphertext moved to another place says so by its
 * context and does not open there.
 */
export const ciphertextContext = {
  masterKey: (userId: string) => `master-key:${userId}`,
  signingKey: (identityId: string) => `signing-key:${identityId}`,
  encryptionKey: (identityId: string) => `encryption-key:${identityId}`,
  appKey: (identityId: string, clientId: string) => `app-key:${identityId}:${clientId}`,
  /** A fragment that was sealed to a key of the app's page. */
  appKeyFragment: () => 'app-key-fragment',
  /** The master key on its way from one device of its owner to another. */
  deviceApproval: (approvalId: string) => `device-approval:${approvalId}`,
  /** A key of an organization on its way to one of its members. */
  organizationKey: ({ organizationId, fingerprint, identityId }: KeyGrantPlace) =>
    `organization-key:${organizationId}:${fingerprint}:${identityId}`,
} as const

/** Which key of which organization is granted, and to whom. */
export type KeyGrantPlace = { organizationId: string; fingerprint: string; identityId: string }
