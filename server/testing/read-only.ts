import { sql } from 'kysely'
import type { TestWorld } from './world.ts'

/** As many connections as the world's database has. */
const connections = process.env['TEST_DATABASE_URL'] === undefined ? 1 : 12

/** Makes the world's database read-only, like a standby, or writable again. */
export async function setReadOnly({ db }: TestWorld, on: boolean): Promise<void> {
  const { promise: all, resolve } = Promise.withResolvers<void>()
  let held = 0
  const hold = () =>
    db.connection().execute(async (connection) => {
      await sql`set default_transaction_read_only = ${sql.raw(on ? 'on' : 'off')}`.execute(connection)
      held += 1
      if (held === connections) resolve()
      // Each transaction needs its own connection.
      await all
    })
  await Promise.all(Array.from({ length: connections }, hold))
}
