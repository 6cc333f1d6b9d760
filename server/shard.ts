/**
 * Distributes the database of DATABASE_URL on its Citus cluster: `countersign shard`. With `--plan`, prints where each
 * table belongs, and changes nothing. Exits with 1 and a line with the reason if the database cannot be distributed.
 */
import './egress-guard.ts'
import { ConfigError, loadConfig } from '#platform/config/config.ts'
import { describePlacement, shardDatabase } from '#platform/database/distributed/sharding.ts'
import { placements } from './modules.ts'

const print = (line: string) => void process.stdout.write(`${line}\n`)

try {
  if (process.argv.includes('--plan'))
    for (const [table, placement] of placements) print(`${table}: ${describePlacement(placement)}`)
  else await shard()
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}

async function shard(): Promise<void> {
  const { databaseUrl } = loadConfig(process.env)
  if (!databaseUrl) throw new ConfigError('Set DATABASE_URL to the database on the coordinator of the cluster.')
  const count = await shardDatabase(databaseUrl, placements, print)
  const changed = count === 0 ? 'Nothing was left to distribute.' : `Distributed ${count} tables.`
  print(`${changed} All ${placements.size} tables are where they belong.`)
}
