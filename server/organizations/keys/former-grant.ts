import type { IdentityId, OrganizationId, UserId } from '@countersign/protocol/ids'
import { keepFormer } from '#accounts/keys/former-key.ts'
import type { Transaction } from '#platform/database/database.ts'
import { requestKeyRotation } from './key-rotation.ts'
import * as store from './store.ts'

type Losing = { organizationId: OrganizationId; userId: UserId; identityIds: IdentityId[] }

/**
 * Takes the keys of a locked organization from members who have lost their encryption keys, and marks the active key as
 * due for rotation: who has the new encryption keys may be someone else. The wraps are kept with the former keys. Other
 * members share the keys with the new encryption keys if they want.
 */
export async function takeGrants(
  tx: Transaction,
  { organizationId, userId, identityIds }: Losing,
  now: Date,
): Promise<void> {
  await requestKeyRotation(tx, { organizationId, identityIds }, now)
  const taken = await store.deleteGrantsOf(tx, organizationId, identityIds)
  const rows = taken.map(({ identityId, keyId, ciphertext }) => ({ identityId, reference: keyId, ciphertext }))
  await keepFormer(
    tx,
    userId,
    rows.map((row) => ({ kind: 'organization_key' as const, ...row })),
    now,
  )
}

/**
 * Deletes the wraps of all keys of an organization that is being deleted. In a statement of their own, they take less
 * time than with each member.
 */
export async function deleteGrantsOfOrganization(tx: Transaction, organizationId: OrganizationId): Promise<void> {
  await store.deleteGrantsOfOrganization(tx, organizationId)
}
