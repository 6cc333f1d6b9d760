import { sql } from 'kysely'
import type { Transaction } from '#platform/database/database.ts'

const batchRows = 1000

/** The last migration that this database has had: which tables there are, and of which columns. */
export async function readSchema(tx: Transaction): Promise<string> {
  const { rows } = await sql<{ last: string }>`select max(name) as last from schema_migration`.execute(tx)
  return rows[0]?.last ?? ''
}

/** The rows of a table, each as a line of JSON, some at a time. PostgreSQL writes them, so no value is rounded. */
export async function* readRows(tx: Transaction, table: string): AsyncGenerator<string[]> {
  await sql`
    declare kept_rows no scroll cursor for
    select row_to_json(kept)::text as line from ${sql.table(table)} as kept`.execute(tx)
  for (;;) {
    const { rows } = await sql<{ line: string }>`fetch ${sql.lit(batchRows)} from kept_rows`.execute(tx)
    if (rows.length === 0) break
    yield rows.map(({ line }) => line)
  }
  await sql`close kept_rows`.execute(tx)
}

/** Writes rows as `readRows` gave them; values that do not fit their column are refused by the database. */
export async function insertRows(tx: Transaction, table: string, lines: string[]): Promise<void> {
  const whole = `[${lines.join(',')}]`
  await sql`
    insert into ${sql.table(table)}
    select * from jsonb_populate_recordset(null::${sql.table(table)}, ${whole}::jsonb)`.execute(tx)
}

export async function emptyTable(tx: Transaction, table: string): Promise<void> {
  await sql`delete from ${sql.table(table)}`.execute(tx)
}

/** Lets other restores, migrations and whoever is about to register wait until this transaction is done. */
export async function holdOff(tx: Transaction): Promise<void> {
  await sql`select version from schema_lock where version = 0 for update`.execute(tx)
  await sql`lock table person, app in share row exclusive mode`.execute(tx)
}

/** Whether nobody uses this server yet: no person, no key that was ever logged, and no app but `builtInClientId`. */
export async function isUnused(tx: Transaction, builtInClientId: string): Promise<boolean> {
  const { rows } = await sql`
    select from person union all select from transparency_leaf
    union all select from app where client_id <> ${builtInClientId} limit 1`.execute(tx)
  return rows.length === 0
}
