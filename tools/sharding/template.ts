import { randomBytes } from 'node:crypto'
import { serverPool } from '../../server/platform/database/server-pool.ts'
import { migrate } from '../../server/platform/database/migrate.ts'
import { distribute } from '../../server/platform/database/distributed/sharding.ts'
import { Secret } from '../../server/platform/crypto/secret.ts'
import { placements } from '../../server/modules.ts'
import { query } from '../../server/testing/query.ts'
import { createDatabase, dropDatabase, findNodes, named } from '../../server/testing/sharded-database.ts'

/** Shards of a table. Tests need more than one for each worker, and no more. */
const shardCount = 4

/**
 * Creates a migrated database that is distributed on the cluster of the database at `url`. A test copies it in less
 * than a tenth of the time. Returns its name, or undefined if the database belongs to no cluster.
 */
export async function createTemplate(url: string): Promise<Template | undefined> {
  const nodes = await findNodes(url)
  if (!nodes) return undefined
  const name = `countersign_template_${randomBytes(8).toString('hex')}`
  await createDatabase(nodes, name)
  const own = nodes.map((node) => named(node, name))
  for (const node of own) await query(node, 'create extension citus')
  const [coordinator = '', ...workers] = own
  const at = new URL(coordinator)
  await query(coordinator, `select citus_set_coordinator_host('${at.hostname}', ${at.port})`)
  for (const worker of workers.map((each) => new URL(each)))
    await query(coordinator, `select citus_add_node('${worker.hostname}', ${worker.port})`)
  await query(coordinator, `alter database ${name} set citus.shard_count = ${shardCount}`)
  const pool = serverPool(
    new Secret(coordinator),
    (error) => {
      throw error
    },
    1,
  )
  await migrate(pool)
  await distribute(pool, placements, () => {})
  await pool.end()
  for (const node of nodes) {
    await query(node, `alter database ${name} allow_connections false`)
    await query(node, `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '${name}'`)
  }
  return { name, drop: () => dropDatabase(nodes, name) }
}

type Template = { name: string; drop: () => Promise<void> }
