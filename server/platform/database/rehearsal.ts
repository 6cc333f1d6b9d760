import { sql } from 'kysely'
import type { Transaction } from './database.ts'

/**
 * Runs work in a transaction and undoes what it wrote, to learn whether it would succeed. Throws what the work throws.
 * Functions that the work gives to `afterCommit` still run: they announce what may have changed.
 */
export async function rehearse(tx: Transaction, work: () => Promise<void>): Promise<void> {
  await sql`savepoint rehearsal`.execute(tx)
  try {
    await work()
  } finally {
    await sql`rollback to savepoint rehearsal`.execute(tx)
  }
}
