import type { ClientId, IdentityId, UserId } from '@countersign/protocol/ids'
import { keepFormer } from '#accounts/keys/former-key.ts'
import type { Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

export { deletePublicKeysOfApp } from './store.ts'

/**
 * Takes the app keys of identities whose keys are reset, and keeps them with the former keys: the new master key does
 * not open them. The next consent to an app makes a new key. Public keys stay reserved for their identity.
 */
export async function takeAppKeys(
  tx: Transaction,
  { userId, identityIds }: { userId: UserId; identityIds: IdentityId[] },
  now: Date,
): Promise<void> {
  await keepTaken(tx, userId, await store.deleteKeysOf(tx, identityIds), now)
}

/**
 * Takes the app keys of an identity that disconnects apps, and keeps them with the former keys. Disconnecting
 * requires no recent authentication, so it must not destroy what they open. A new connection gets a new key.
 */
export async function takeAppKeysOfApps(
  tx: Transaction,
  { userId, identityId, clientIds }: { userId: UserId; identityId: IdentityId; clientIds: ClientId[] },
  now: Date,
): Promise<void> {
  await keepTaken(tx, userId, await store.deleteKeysOf(tx, [identityId], clientIds), now)
}

async function keepTaken(tx: Transaction, userId: UserId, taken: store.TakenAppKey[], now: Date): Promise<void> {
  const rows = taken.map(({ identityId, clientId: reference, ciphertext }) => ({ identityId, reference, ciphertext }))
  await keepFormer(
    tx,
    userId,
    rows.map((row) => ({ kind: 'app_key' as const, ...row })),
    now,
  )
}
