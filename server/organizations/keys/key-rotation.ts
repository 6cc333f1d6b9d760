import type { IdentityId, OrganizationId } from '@countersign/protocol/ids'
import type { Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

/**
 * Marks the active key of an organization as due for rotation, unless it is marked already. With `identityIds` it does
 * so only if these members can have the key: a shared key if it was shared with them, a key stored by the service in
 * any case.
 */
export async function requestKeyRotation(
  tx: Transaction,
  of: { organizationId: OrganizationId; identityIds?: IdentityId[] },
  now: Date,
): Promise<void> {
  await store.markActiveKey(tx, of, now)
}
