import { randomBytes } from 'node:crypto'
import { serverPool } from '../server/platform/database/server-pool.ts'
import { migrate } from '../server/platform/database/migrate.ts'
import { distribute } from '../server/platform/database/distributed/sharding.ts'
import { Secret } from '../server/platform/crypto/secret.ts'
import { placements } from '../server/modules.ts'
import { query } from '../server/testing/query.ts'
import { createDatabase, dropDatabase, findNodes, named } from '../server/testing/sharded-database.ts'

/** Shards of a table. Tests need more than one for each worker, and no more. */
const shardCount = 4

/**
 * Creates a migrated database on the PostgreSQL at `url`, distributed if that belongs to a cluster. A test copies it in
 * a tenth of the time that the migrations take.
 */
export async function createTemplate(url: string): Promise<Template> {
  const nodes = (await findNodes(url)) ?? [url]
  const name = `countersign_template_${randomBytes(8).toString('hex')}`
  await createDatabase(nodes, name)
  const own = named(url, name)
  if (nodes.length > 1) await joinNodes(nodes.map((node) => named(node, name)))
  const pool = serverPool(
    new Secret(own),
    (error) => {
      throw error
    },
    1,
  )
  await migrate(pool)
  if (nodes.length > 1) await distribute(pool, placements, () => {})
  await pool.end()
  for (const node of nodes) {
    await query(node, `alter database ${name} allow_connections false`)
    await query(node, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
  }
  return { url: own, drop: () => dropDatabase(nodes, name) }
}

type Template = { url: string; drop: () => Promise<void> }

/** Makes databases of the same name on all nodes one distributed database; the first is that of the coordinator. */
async function joinNodes(databases: string[]): Promise<void> {
  for (const database of databases) await query(database, 'create extension citus')
  const [coordinator = '', ...workers] = databases
  const at = new URL(coordinator)
  await query(coordinator, `select citus_set_coordinator_host('${at.hostname}', ${at.port})`)
  for (const worker of workers.map((each) => new URL(each)))
    await query(coordinator, `select citus_add_node('${worker.hostname}', ${worker.port})`)
  await query(coordinator, `alter database ${at.pathname.slice(1)} set citus.shard_count = ${shardCount}`)
}
