import { auditDigest } from '@countersign/protocol/formats/audit/audit-head'
import { sql } from 'kysely'
import type { ClientId } from '@countersign/protocol/ids'
import { sha256 } from '#platform/crypto/secret.ts'
import type { Transaction } from '#platform/database/database.ts'

const batchRows = 1000
/** Under which the log files the heads of the audit log. */
const auditHeads = Buffer.from(auditDigest(sha256), 'base64')

/** Returns the name of the last migration of this database, which defines its tables and columns. */
export async function getSchemaSignature(tx: Transaction): Promise<string> {
  const { rows } = await sql<{ last: string }>`select max(name) as last from schema_migration`.execute(tx)
  return rows[0]?.last ?? ''
}

/** Lists the foreign keys between tables of this schema. */
export async function listReferences(tx: Transaction): Promise<{ from: string; to: string }[]> {
  const { rows } = await sql<{ from: string; to: string }>`
    select conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f' and connamespace = current_schema::regnamespace`.execute(tx)
  return rows
}

/** Throws unless these tables can be read, so that a backup fails before it has begun. */
export async function requireReadable(tx: Transaction, tables: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${tables}::text[]) as name where not has_table_privilege(name, 'select')`.execute(tx)
  const [denied] = rows
  if (denied) throw new Error(`its role may not read ${denied.name}`)
}

/** Streams the rows of a table as JSON lines, in batches. PostgreSQL serializes them, so no value is rounded. */
export async function* streamRows(tx: Transaction, table: string): AsyncGenerator<string[]> {
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

/** Inserts rows as `streamRows` returned them; the database rejects values that do not fit their column. */
export async function insertRows(tx: Transaction, table: string, lines: string[]): Promise<void> {
  const whole = `[${lines.join(',')}]`
  await sql`
    insert into ${sql.table(table)}
    select * from jsonb_populate_recordset(null::${sql.table(table)}, ${whole}::jsonb)`.execute(tx)
}

export async function deleteAllRows(tx: Transaction, table: string): Promise<void> {
  await sql`delete from ${sql.table(table)}`.execute(tx)
}

/** Makes other restores, migrations and registrations wait until this transaction has ended. */
export async function lockForRestore(tx: Transaction): Promise<void> {
  await sql`select version from schema_lock where version = 0 for update`.execute(tx)
  await sql`lock table user_account, app in share row exclusive mode`.execute(tx)
}

/**
 * Checks that this server is unused: it has no user, no logged key, and no app except `builtInClientIds`. The log of an
 * unused server may have heads of its audit log.
 */
export async function isEmptyInstance(tx: Transaction, builtInClientIds: ClientId[]): Promise<boolean> {
  const { rows } = await sql`
    select true as found from user_account
    union all select true from transparency_leaf where identity_sha256 <> ${auditHeads}
    union all select true from app where client_id <> all (${builtInClientIds}::text[]) limit 1`.execute(tx)
  return rows.length === 0
}
