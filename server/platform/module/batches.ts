import { type Database, type Transaction, transaction } from '#platform/database/database.ts'

/**
 * Number of rows of a kind that a transaction ends when something with any number of them ends: the request that ends
 * it, and each batch of the cleanup that does the rest.
 */
export const endedAtOnce = 1000

/**
 * Ends up to `endedAtOnce` rows of one thing in a request. `endSome` ends up to `limit` of them and returns their
 * number: nothing is left only where that is 0. Returns whether nothing is left.
 */
export async function endInRequest(endSome: (limit: number) => Promise<number>): Promise<boolean> {
  for (let left = endedAtOnce; left > 0;) {
    const count = await endSome(left)
    if (count === 0) return true
    left -= count
  }
  return false
}

/**
 * Continues what requests have begun to end, in transactions of limited size, until `batch` rows have ended or nothing
 * is left. Returns the number of rows. `continueNext` ends up to `limit` rows of one thing and returns their number. It
 * returns undefined if nothing is left.
 */
export async function continueEndings(
  db: Database,
  batch: number,
  continueNext: (tx: Transaction, limit: number) => Promise<number | undefined>,
): Promise<number> {
  let left = batch
  while (left > 0) {
    const limit = Math.min(left, endedAtOnce)
    const count = await transaction(db, (tx) => continueNext(tx, limit))
    if (count === undefined) break
    left -= count
  }
  return batch - left
}

/** Number of rows that one statement of a request changes: within its time limit, also on a busy machine. */
export const changedAtOnce = 5000

/**
 * Changes all rows of one thing, of which there can be any number, in statements of limited size, in the transaction of
 * a request. `list` finds up to `count` keys: those after the last one of the part before, in their order, or any where
 * it lists no changed row again. A smaller part is the last one. What `change` has changed tells less: another
 * transaction may have changed some of the rows first.
 */
export async function changeInParts<Key>(
  list: (count: number, after: Key | undefined) => Promise<Key[]>,
  change: (keys: Key[]) => Promise<unknown>,
): Promise<void> {
  for (let after: Key | undefined; ;) {
    const keys = await list(changedAtOnce, after)
    if (keys.length > 0) await change(keys)
    if (keys.length < changedAtOnce) return
    after = keys.at(-1)
  }
}
