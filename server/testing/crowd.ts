import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'

/** Tables of the service itself, which have no rows of users, each with the reason why it does not grow with users. */
export const ofNobody: Record<string, string> = {
  schema_migration: 'a row for each migration',
  schema_lock: 'two rows',
  user_group: 'at most 2,000 rows, which the operator adds',
  setting_revision: 'at most 1,000 rows, one for each change by an operator',
  configuration_object: 'a row for each group, app, organization, invitation and sink that the operator declares',
  operator: 'at most 200 rows',
  invitation: 'at most 20,000 pending rows, which operators add',
  invited_identity: 'at most 20,000 rows, which operators add',
  setup_link: 'a row for each start without an operator',
  admin_token: 'at most 50 rows',
  scim_token: 'at most 10 rows',
  scim_group: 'a row for each group of a directory',
  sink: 'at most 10 rows',
  token_signing_key: 'a row for each rotation of the keys of the service',
  transparency_log: 'one row',
  audit_chain_head: 'one row',
}

type Column = { table: string; column: string; type: string; isKey: boolean; isWord: boolean }

export type Crowd = Awaited<ReturnType<typeof openCrowd>>

/**
 * Fills every table with rows of other users, which resemble the existing rows but have their own keys.
 *
 * References between existing rows are kept: each key becomes the same new key wherever it occurs. Takes one
 * connection, and is removed when that is returned.
 */
export async function openCrowd(db: Database) {
  const columns = (await readColumns(db)).filter(({ table }) => ofNobody[table] === undefined)
  const tables = new Map<string, { columns: Column[]; models: number }>()
  for (const [table, own] of Map.groupBy(columns, (column) => column.table)) {
    await sql`create temporary table ${modelOf(table)} as select * from ${sql.table(table)} limit 20`.execute(db)
    const models = await countRows(db, `${table}_model`, 'true')
    if (models === 0) throw new Error(`table ${table} has no row. Add one to the test, so that other users have many.`)
    tables.set(table, { columns: own, models })
  }
  // The crowd is consistent: checking each of its references would take longer than everything else.
  await sql`set session_replication_role = replica`.execute(db)
  let last = 0

  return {
    /** Adds at least `count` rows to each table. `said` maps columns to different values, as SQL. */
    async add(count: number, said: Record<string, Record<string, string>> = {}): Promise<void> {
      for (const [table, { columns: own, models }] of tables) {
        const values = own.map((column) => said[table]?.[column.column] ?? ofAnother(column))
        await sql`
          insert into ${sql.table(table)} (${sql.join(own.map(({ column }) => sql.ref(column)))})
          select ${sql.join(values.map((value) => sql.raw(value)))} from ${modelOf(table)}
          cross join generate_series(${last + 1}::integer, ${last + Math.ceil(count / models)}::integer) nth
        `.execute(db)
      }
      last += count
    },
    async close(): Promise<void> {
      await sql`set session_replication_role = origin`.execute(db)
      for (const table of tables.keys()) await sql`drop table ${modelOf(table)}`.execute(db)
    },
  }
}

const modelOf = (table: string) => sql.table(`${table}_model`)

/** Values of keys in the `nth` copy of a row, where a check requires a form. */
const formed: Record<string, string> = {
  'account_suspension.source': 'source',
  'group_member.source': `
    case when source like 'upstream:%' then 'upstream:' || md5(source || nth)::uuid else source end`,
}

/** Builds the value of a column in the `nth` copy of a row. */
function ofAnother({ table, column, type, isKey, isWord }: Column): string {
  const name = `"${column}"`
  const form = formed[`${table}.${column}`]
  if (form !== undefined) return form
  if (type === 'uuid') return `md5(${name}::text || nth)::uuid`
  if (type === 'bytea')
    return `case length(${name}) when 32 then sha256(${name} || nth::text::bytea)
      when 64 then sha512(${name} || nth::text::bytea) else ${name} end`
  // So that they are spread over the index.
  if (type === 'timestamp with time zone') return `${name} - nth * interval '1 millisecond'`
  if (isKey && type === 'text' && !isWord) return `${name} || '~' || nth`
  if (isKey && ['leaf_index', 'node_index'].includes(column)) return `${name} + nth * 1000`
  // Far from the numbers that the service gives meanwhile.
  if (isKey && type === 'bigint') return `${name} + nth * 1000000::bigint`
  return name
}

/** Reads the columns of every table: a new one is included without being named here. */
async function readColumns(db: Database): Promise<Column[]> {
  const { rows } = await sql<Column>`
    with unique_column as (
      select distinct attribute.attname
      from pg_index index join pg_attribute attribute on attribute.attrelid = index.indrelid
      join pg_class on pg_class.oid = index.indrelid
      where relnamespace = 'public'::regnamespace and indisunique and attribute.attnum > 0
        and (attribute.attnum = any(indkey) or pg_get_expr(indexprs, indrelid) ~ ('\\m' || attribute.attname || '\\M'))
    )
    select pg_class.relname as table, attname as column, format_type(atttypid, atttypmod) as type,
      attname in (select attname from unique_column) or attname like '%client_id' as "isKey",
      exists (
        select from pg_constraint where conrelid = attrelid and contype = 'c' and conkey = array[attnum]
          and pg_get_constraintdef(pg_constraint.oid) like '%ANY%'
      ) as "isWord"
    from pg_attribute join pg_class on pg_class.oid = attrelid
    where relnamespace = 'public'::regnamespace and relkind = 'r' and attnum > 0 and not attisdropped
    order by relname, attnum`.execute(db)
  return rows
}

type PartialIndex = { name: string; table: string; predicate: string }

/** Reads the partial indexes of a table and their conditions. */
export async function readPartialIndexes(db: Database): Promise<PartialIndex[]> {
  const { rows } = await sql<PartialIndex>`
    select relname as name, indrelid::regclass::text as table, pg_get_expr(indpred, indrelid) as predicate
    from pg_index join pg_class on pg_class.oid = indexrelid
    where relnamespace = 'public'::regnamespace and indpred is not null order by relname`.execute(db)
  return rows
}

/** Counts the rows of a table that meet a condition. */
export async function countRows(db: Database, table: string, condition: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from ${sql.table(table)} where ${sql.raw(condition)}`.execute(db)
  return rows[0]?.count ?? 0
}
