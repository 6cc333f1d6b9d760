import { transaction, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { appendKeyEvent } from '#signing/transparency/event.ts'
import * as store from './store.ts'

const batchIdentities = 200

/** Has the log tell those keys of these identities that it does not know, each once and in their order. */
export async function logKeys(tx: Transaction, identityIds: string[], now: Date): Promise<void> {
  const keys = await store.markInLog(tx, identityIds)
  for (const key of keys.toSorted((one, other) => one.keyVersion - other.keyVersion))
    await appendKeyEvent(tx, { ...key, event: key.keyVersion === 1 ? 'created' : 'rotated' }, now)
}

/** Has the log tell that identities have no key any more, before they have none. */
export async function logRemoval(tx: Transaction, identityIds: string[], now: Date): Promise<void> {
  await logKeys(tx, identityIds, now)
  for (const key of await store.listCurrentKeys(tx, identityIds))
    await appendKeyEvent(tx, { ...key, event: 'removed' }, now)
}

/** The keys that were there before there was a log get their leaves, in small batches. */
export async function logEarlierKeys({ db }: Pick<Kernel, 'db'>, now: Date): Promise<void> {
  for (;;) {
    const identityIds = await store.listIdentitiesNotInLog(db, batchIdentities)
    if (identityIds.length === 0) return
    await transaction(db, (tx) => logKeys(tx, identityIds, now))
  }
}
