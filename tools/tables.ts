/**
 * Writes `server/platform/database/tables.ts`, the row types with which Kysely checks queries. It runs
 * `server/migrations/*.sql` on an embedded PostgreSQL in memory and reads its catalog. `--check` fails if the file is
 * out of date.
 */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { withoutConcurrency } from '../server/platform/database/migrate.ts'

type Column = { table: string; name: string; type: string; nullable: boolean; hasDefault: boolean; checks: string[] }

const header = '// Written by `node tools/tables.ts` from server/migrations. Do not edit.'

/** Maximum length of a line, with its end. */
const lineMax = 121

/** The types that `pg` returns and accepts; `bigint` is text because it can exceed a number. */
const typescriptTypes: Record<string, string> = {
  bigint: 'string',
  boolean: 'boolean',
  bytea: 'Uint8Array',
  'bytea[]': 'Uint8Array[]',
  date: 'string',
  'double precision': 'number',
  integer: 'number',
  jsonb: 'Json',
  smallint: 'number',
  text: 'string',
  'text[]': 'string[]',
  'timestamp with time zone': 'Date',
  uuid: 'string',
  'uuid[]': 'string[]',
}

/** Columns whose text is an ID of one kind, by name, in every table. */
const idTypes: Record<string, string> = {
  user_id: 'UserId',
  owner_user_id: 'UserId',
  owner_identity_id: 'IdentityId',
  former_owner_id: 'UserId',
  identity_id: 'IdentityId',
  invited_by: 'IdentityId',
  granted_by: 'IdentityId',
  created_by: 'IdentityId',
  organization_id: 'OrganizationId',
  signer_id: 'IdentityId | OrganizationId',
  client_id: 'ClientId',
  source_client_id: 'ClientId',
  session_id: 'SessionId',
  known_session_id: 'SessionId',
  requesting_session_id: 'SessionId',
  approving_session_id: 'SessionId',
}
const idNames = [...new Set(Object.values(idTypes).flatMap((type) => type.split(' | ')))].toSorted()

/** Returns the text of `tables.ts` for a database with these migrations, in their order. */
export async function describeTables(migrations: string[]): Promise<string> {
  const database = await PGlite.create()
  try {
    for (const sql of migrations) await database.exec(withoutConcurrency(sql))
    const { rows } = await database.query<Column>(columnsOfTables)
    return moduleOf(rows)
  } finally {
    await database.close()
  }
}

/** Partitions are omitted: they are written and read through their table. */
const columnsOfTables = `
  select pg_class.relname as "table", attname as name, format_type(atttypid, null) as type,
    not attnotnull as nullable, atthasdef as "hasDefault",
    array(
      select pg_get_constraintdef(pg_constraint.oid) from pg_constraint
      where conrelid = pg_class.oid and contype = 'c' and conkey = array[attnum]
    ) as checks
  from pg_class join pg_attribute on attrelid = pg_class.oid and attnum > 0 and not attisdropped
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
  order by relname, attnum`

function moduleOf(columns: Column[]): string {
  const tables = Object.entries(Object.groupBy(columns, ({ table }) => table)).map(([table, own = []]) => {
    const lines = own.map(lineOf)
    return `  ${table}: {\n${lines.join('')}  }\n`
  })
  const body = `export interface Tables {\n${tables.join('')}}\n`
  const json = '/** Read as a value, written as its text. */\ntype Json = ColumnType<unknown, string, string>\n'
  const parts = [/: Json\b/.test(body) ? json : '', body].filter((part) => part !== '').join('\n')
  const types = ['ColumnType', 'Generated'].filter((type) => parts.includes(`${type}<`))
  const ids = idNames.filter((type) => new RegExp(`: .*\\b${type}\\b`).test(body))
  const imports = [importOf(ids, '@countersign/protocol/ids'), importOf(types, 'kysely')].join('')
  return `${header}\n${imports}\n${parts}`
}

function importOf(types: string[], source: string): string {
  return types.length > 0 ? `import type { ${types.join(', ')} } from '${source}'\n` : ''
}

/** Formats a column in one line, or in one for each of many literals. */
function lineOf(column: Column): string {
  const type = rowType(column)
  const line = `    ${column.name}: ${type}\n`
  if (line.length <= lineMax) return line
  return [`    ${column.name}:\n`, ...type.split(' | ').map((part) => `      | ${part}\n`)].join('')
}

function rowType(column: Column): string {
  const { table, name, type, nullable, hasDefault } = column
  const plain = literalsOf(column) ?? idTypes[name] ?? typescriptTypes[type]
  if (!plain) throw new Error(`${table}.${name} has the type ${type}, which tools/tables.ts does not know yet`)

  // Kysely's Generated<> does not look inside a ColumnType.
  const text = nullable ? 'string | null' : 'string'
  if (plain === 'Json' && hasDefault) return `ColumnType<unknown, ${text} | undefined, ${text}>`

  const withNull = nullable ? `${plain} | null` : plain
  return hasDefault ? `Generated<${withNull}>` : withNull
}

/** Returns `'a' | 'b'` for a text column with `check (column in ('a', 'b'))`, as PostgreSQL formats that check. */
function literalsOf({ name, checks }: Column): string | undefined {
  for (const check of checks) {
    const [, list, only] =
      new RegExp(`^CHECK \\(\\(${name} = (?:ANY \\(ARRAY\\[(.*)\\]\\)|('[^']*'::text))\\)\\)$`).exec(check) ?? []
    const literals = [...(list ?? only ?? '').matchAll(/'([^']*)'::text/g)].map(([, literal]) => `'${literal}'`)
    if (literals.length > 0) return literals.join(' | ')
  }
  return undefined
}

if (import.meta.main) {
  const server = join(import.meta.dirname, '../server')
  const migrations = globSync('migrations/*.sql', { cwd: server }).toSorted()
  if (migrations.length === 0) throw new Error('No migration in server/migrations')

  const target = join(server, 'platform/database/tables.ts')
  const fresh = await describeTables(migrations.map((file) => readFileSync(join(server, file), 'utf8')))
  if (!process.argv.includes('--check')) writeFileSync(target, fresh)
  else if (!existsSync(target) || readFileSync(target, 'utf8') !== fresh) {
    console.error('server/platform/database/tables.ts is out of date: node tools/tables.ts writes it')
    process.exitCode = 1
  }
}
