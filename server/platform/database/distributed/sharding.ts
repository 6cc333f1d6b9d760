import type pg from 'pg'
import { ConfigError } from '#platform/config/config.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import { onOwnConnection } from '#platform/database/server-pool.ts'
import { migrate } from '#platform/database/migrate.ts'

/**
 * Where a distributed database has the rows of a table: in shards by a column of its primary key, complete on every
 * node, or on the coordinator alone.
 */
export type Placement<Column extends string = string> = { by: Column } | 'every node' | 'coordinator'
export type Placements = ReadonlyMap<string, Placement>

type Reference = { name: string; table: string; target: string; definition: string }
type UniqueIndex = { name: string; table: string; columns: string[]; definition: string }

/** The distribution as `countersign shard` prints it. */
export type Progress = (line: string) => void

const extensionVersionMin = 12

/** Migrates the database at a URL, and distributes it as `distribute` does. */
export function shardDatabase(url: Secret, placements: Placements, report: Progress): Promise<number> {
  // Moving the rows of a table may take long. Only TCP tells that the database is gone.
  return onOwnConnection(url.reveal(), 0, async (pool) => {
    await requireCluster(pool)
    await migrate(pool, (reason) => report(`waiting for the locks of other processes (${reason})`))
    return distribute(pool, placements, report)
  })
}

/**
 * Distributes the tables of a migrated database on the nodes of its cluster, with their rows. A table that is
 * distributed already is left as it is, and tables that refer to each other are distributed in one transaction, so that
 * an interrupted run can be repeated. Verifies the result, and returns the number of tables that it has distributed.
 * Throws `ConfigError` if the database cannot be distributed.
 */
export async function distribute(pool: pg.Pool, placements: Placements, report: Progress): Promise<number> {
  await requireCluster(pool)
  await setMode(pool)
  const references = await listReferences(pool, placements)
  let count = 0
  for (const group of groupTables(placements, references)) {
    const placed = await readPlacements(pool)
    const left = group.filter((table) => !isPlaced(placements.get(table), placed.get(table)))
    if (left.length === 0) continue
    await inTransaction(pool, (client) => distributeGroup(client, left, placements, references))
    for (const table of left) report(`${table}: ${describePlacement(placements.get(table))}`)
    count += left.length
  }
  await verifyDistribution(pool, placements, references)
  const moved = [...placements].filter(([, placement]) => placement !== 'coordinator').map(([table]) => table)
  await freeCopies(pool, moved)
  return count
}

/** Throws unless every table is where it belongs, and refers to the same tables as before. */
async function verifyDistribution(pool: pg.Pool, placements: Placements, references: Reference[]): Promise<void> {
  const placed = await readPlacements(pool)
  const wrong = [...placements.keys()].filter((table) => !isPlaced(placements.get(table), placed.get(table)))
  if (wrong.length > 0) throw new ConfigError(`These tables are not where they belong: ${wrong.join(', ')}.`)
  const kept = new Set((await listReferences(pool, placements)).map(({ table, name }) => `${table}.${name}`))
  const lost = references.map(({ table, name }) => `${table}.${name}`).filter((name) => !kept.has(name))
  if (lost.length > 0) throw new ConfigError(`These foreign keys are missing: ${lost.join(', ')}.`)
}

/** Frees the space of rows on the coordinator that are now in shards. They are hidden, and no statement reads them. */
async function freeCopies(pool: pg.Pool, tables: string[]): Promise<void> {
  for (const table of tables)
    await pool.query('select truncate_local_data_after_distributing_table($1::text::regclass)', [table])
}

/** Throws `ConfigError` unless the database is that of a coordinator with workers. */
async function requireCluster(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ version: string | null }>(
    `select (select extversion from pg_extension where extname = 'citus') as version`,
  )
  const version = rows[0]?.version ?? undefined
  if (version === undefined)
    throw new ConfigError('The database has no extension citus. Run `create extension citus` on each node first.')
  if (Number.parseInt(version, 10) < extensionVersionMin)
    throw new ConfigError(`Citus ${extensionVersionMin} or newer is required, and the database has ${version}.`)
  const nodes = await pool.query<{ workers: number; coordinators: number }>(`
    select count(*) filter (where groupid <> 0 and isactive)::integer as workers,
      count(*) filter (where groupid = 0)::integer as coordinators
    from pg_dist_node`)
  const { workers = 0, coordinators = 0 } = nodes.rows[0] ?? {}
  if (coordinators === 0)
    throw new ConfigError('The coordinator has no address. Run `select citus_set_coordinator_host(…)` on it first.')
  if (workers === 0) throw new ConfigError('The cluster has no worker. Run `select citus_add_node(…)` for each first.')
}

/**
 * Lets a transaction change several shards and then a table that every node has, which Citus refuses if it has changed
 * the shards in parallel. The setting belongs to the database, and a copy of it has none.
 */
export async function setMode(pool: Pick<pg.Pool, 'query'>): Promise<void> {
  const { rows } = await pool.query<{ name: string }>('select quote_ident(current_database()) as name')
  await pool.query(`alter database ${rows[0]?.name ?? ''} set citus.multi_shard_modify_mode = 'sequential'`)
}

async function readPlacements(pool: pg.Pool): Promise<Map<string, string>> {
  const { rows } = await pool.query<{ table: string; placed: string }>(`
    select logicalrelid::text as table,
      case when partmethod = 'h' then column_to_column_name(logicalrelid, partkey)
        when repmodel = 't' then 'every node' else 'coordinator' end as placed
    from pg_dist_partition`)
  return new Map(rows.map(({ table, placed }) => [table, placed]))
}

function isPlaced(placement: Placement | undefined, placed = 'coordinator'): boolean {
  return (typeof placement === 'object' ? placement.by : placement) === placed
}

export function describePlacement(placement: Placement | undefined): string {
  if (typeof placement === 'object') return `in shards by ${placement.by}`
  return placement === 'every node' ? 'on every node' : 'on the coordinator'
}

/** Leaves out the references of shards, which are tables of their own. */
async function listReferences(pool: pg.Pool, placements: Placements): Promise<Reference[]> {
  const { rows } = await pool.query<Reference>(`
    select conname as name, conrelid::regclass::text as table, confrelid::regclass::text as target,
      pg_get_constraintdef(oid) as definition
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
    order by conrelid::regclass::text, conname`)
  return rows.filter(({ table }) => placements.has(table))
}

/** Groups the tables that refer to each other. References between tables that every node has come first. */
export function groupTables(placements: Placements, references: readonly Reference[]): string[][] {
  const rank = (table: string) => {
    const placement = placements.get(table)
    return placement === 'every node' ? 0 : placement === 'coordinator' ? 1 : 2
  }
  const groups = new Map([...placements.keys()].map((table) => [table, [table]]))
  const binding = references.filter(({ table, target }) => rank(table) === rank(target) || rank(table) === 1)
  for (const { table, target } of binding) {
    const [one = [table], other = [target]] = [groups.get(table), groups.get(target)]
    if (one === other) continue
    const joined = [...one, ...other]
    for (const each of joined) groups.set(each, joined)
  }
  return [...new Set(groups.values())].toSorted((a, b) => Math.min(...a.map(rank)) - Math.min(...b.map(rank)))
}

async function distributeGroup(
  client: pg.PoolClient,
  tables: string[],
  placements: Placements,
  references: Reference[],
): Promise<void> {
  await client.query('set local statement_timeout = 0')
  await client.query(`set local citus.multi_shard_modify_mode = 'sequential'`)
  const removed = references.filter(({ table }) => tables.includes(table))
  const before = await countRows(client, tables)
  for (const { name, table } of removed) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const table of tables) {
    const placement = placements.get(table)
    if (placement === 'every node') await client.query('select create_reference_table($1::text::regclass)', [table])
    else if (typeof placement === 'object') await distributeTable(client, table, placement.by)
  }
  for (const { name, table, definition } of removed)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  const after = await countRows(client, tables)
  const wrong = tables.filter((_, nth) => before[nth] !== after[nth])
  if (wrong.length > 0) throw new Error(`the number of rows has changed in ${wrong.join(', ')}`)
}

async function countRows(client: pg.PoolClient, tables: string[]): Promise<string[]> {
  const counts: string[] = []
  for (const table of tables) {
    const { rows } = await client.query<{ count: string }>(`select count(*) as count from ${table}`)
    counts.push(rows[0]?.count ?? '')
  }
  return counts
}

async function distributeTable(client: pg.PoolClient, table: string, key: string): Promise<void> {
  const { rows: indexes } = await client.query<UniqueIndex>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition
     from pg_index where indrelid = $1::text::regclass and indisunique and not indisprimary
       and not exists (select from pg_constraint where conindid = indexrelid)
       and not exists (
         select from pg_attribute where attrelid = indrelid and attname = $2 and attnum = any(indkey::smallint[])
       )`,
    [table, key],
  )
  // A unique index of a shard says nothing of other shards. These are of random values, or follow from another table.
  for (const { name, definition } of indexes) {
    await client.query(`drop index ${name}`)
    await client.query(withColumn(definition, key))
  }
  await client.query(
    `select create_distributed_table($1::text::regclass, $2::text, colocate_with => coalesce((
       select logicalrelid::text from pg_dist_partition join pg_dist_colocation using (colocationid)
       where partmethod = 'h' and distributioncolumntype = (
         select atttypid from pg_attribute where attrelid = $1::text::regclass and attname = $2
       ) limit 1), 'default'))`,
    [table, key],
  )
}

/** Adds a column to the definition of an index. */
function withColumn(definition: string, column: string): string {
  const end = definition.indexOf(')')
  return `${definition.slice(0, end)}, ${column}${definition.slice(end)}`
}

async function inTransaction(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.release()
  }
}
