import { type Database, type Transaction, transaction } from '#platform/database/database.ts'

/**
 * Number of rows of a kind that a transaction ends when something with any number of them ends: the request that ends
 * it, and each batch of the cleanup that does the rest.
 */
export const endedAtOnce = 1000

const changedAtOnce = 5000

/**
 * Changes all rows of one thing, of which there can be any number, in statements of limited size: the database ends a
 * statement that takes long. `list` finds up to `limit` rows that are not changed yet, and `change` changes those.
 * Nothing is left only where `list` finds fewer: another transaction may have changed some of them first.
 */
export async function changeAll<Row>(
  list: (limit: number) => Promise<Row[]>,
  change: (rows: Row[]) => Promise<unknown>,
): Promise<void> {
  for (;;) {
    const rows = await list(changedAtOnce)
    if (rows.length > 0) await change(rows)
    if (rows.length < changedAtOnce) return
  }
}

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
