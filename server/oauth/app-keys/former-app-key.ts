import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { keepFormer } from '#accounts/keys/former-key.ts'
import type { Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

/**
 * Takes the app keys of identities whose keys are reset, and keeps them with the former keys: the new master key does
 * not open them. The next consent to an app makes a new key. Public keys stay reserved for their identity.
 */
export async function takeAppKeys(
  tx: Transaction,
  { userId, identityIds }: { userId: UserId; identityIds: IdentityId[] },
  now: Date,
): Promise<void> {
  const taken = await store.deleteKeysOf(tx, identityIds)
  const rows = taken.map(({ identityId, clientId, ciphertext }) => ({ identityId, reference: clientId, ciphertext }))
  await keepFormer(
    tx,
    userId,
    rows.map((row) => ({ kind: 'app_key' as const, ...row })),
    now,
  )
}
