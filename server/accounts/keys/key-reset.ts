import type { UserId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import * as store from './store.ts'

/** A passkey that a recovery link brought, and when it was created. */
export type Recovered = { userId: UserId; credentialId: string; since: Date }

/**
 * Lets a passkey reset the keys of a locked account, in place of any other. Does not if a wrap was stored since the
 * passkey was created: that takes the master key. Each wrap that is stored later ends the permission.
 */
export async function grantKeyReset(tx: Transaction, recovered: Recovered): Promise<void> {
  await store.deleteKeyReset(tx, recovered.userId)
  const wraps = await store.listWraps(tx, recovered.userId)
  if (wraps.every(({ createdAt }) => createdAt <= recovered.since)) await store.insertKeyReset(tx, recovered)
}

/** Takes the permission from a passkey. Returns since when the passkey exists, or undefined if it had none. */
export function consumeKeyReset(
  tx: Transaction,
  of: { userId: UserId; credentialId: string },
): Promise<Date | undefined> {
  return store.consumeKeyReset(tx, of)
}

/** Returns the passkey that can reset the keys of a user, if there is one. */
export function findResettingPasskey(db: Database, userId: UserId): Promise<string | undefined> {
  return store.findResettingPasskey(db, userId)
}
