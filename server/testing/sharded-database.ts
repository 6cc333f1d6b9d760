import { sql } from 'kysely'
import pg from 'pg'
import type { Database } from '#platform/database/database.ts'
import { setMode } from '#platform/database/distributed/sharding.ts'
import { query } from './query.ts'

/** Returns the nodes of the cluster to which the database belongs, or undefined without a cluster. */
export async function findNodes(url: string): Promise<string[] | undefined> {
  const installed = await query<{ present: boolean }>(url, `select to_regclass('pg_dist_node') is not null as present`)
  if (installed[0]?.present !== true) return undefined
  const nodes = await query<{ host: string; port: number }>(
    url,
    `select nodename as host, nodeport as port from pg_dist_node where isactive order by groupid`,
  )
  return nodes.length > 1 ? nodes.map(({ host, port }) => addressed(url, host, port)) : undefined
}

/** Creates a database on all nodes: an empty one, or a copy of `template`. */
export async function createDatabase(nodes: string[], name: string, template?: string): Promise<void> {
  const like = template === undefined ? '' : ` template ${template} strategy file_copy`
  await Promise.all(nodes.map((node) => query(node, `create database ${name}${like}`)))
  const [coordinator = '', ...workers] = nodes
  if (template === undefined || workers.length === 0) return
  const client = new pg.Client({ connectionString: named(coordinator, name) })
  await client.connect()
  await setMode(client)
  await client.end()
}

export async function dropDatabase(nodes: string[], name: string): Promise<void> {
  await Promise.all(nodes.map((node) => query(node, `drop database if exists ${name} with (force)`)))
}

export function named(url: string, database: string): string {
  const own = new URL(url)
  own.pathname = `/${database}`
  return own.href
}

function addressed(url: string, host: string, port: number): string {
  const own = new URL(url)
  own.host = `${host}:${port}`
  return own.href
}

/** Copies all rows of a distributed database to temporary tables of a transaction, which any query can join. */
export async function copyTables(tx: Database): Promise<void> {
  for (const { name } of (await tx.introspection.getTables()).filter(({ isView }) => !isView))
    await sql`
      create temporary table ${sql.table(name)} on commit drop
      as select * from ${sql.table(`public.${name}`)}`.execute(tx)
}
