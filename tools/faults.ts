/**
 * `npm run faults`: the service is killed, its database is stopped, frozen and cut off, and nonsense is sent to every
 * route; nothing may break. First on the embedded database, then on a durable PostgreSQL of its own. `--rounds 20` and
 * `--requests 100000` are the long form; `--seed` replays a run of the nonsense. Further arguments choose files.
 */
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findTestFiles, runCommand, runTestFiles, withPostgres, type Counts } from './suite.ts'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    requests: { type: 'string', default: '3000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
  allowPositionals: true,
})
process.env.FAULT_ROUNDS = values.rounds
process.env.FAULT_REQUESTS = values.requests
process.env.FAULT_SEED = values.seed

/** The file of each database that the other has no use for. */
const onlyFor = { embedded: 'embedded.test.ts', postgres: 'postgres.test.ts' }
const fileTimeoutSeconds = 3600

const files = findTestFiles(['faults'], positionals)
const runWithout = (name: string): Promise<Counts> => {
  const chosen = files.filter((file) => basename(file) !== name)
  return chosen.length === 0
    ? Promise.resolve({ passed: 0, failed: 0 })
    : runTestFiles(chosen, { concurrency: 1, fileTimeoutSeconds })
}

delete process.env.TEST_DATABASE_URL
await runCommand(async () => {
  console.log(`seed ${values.seed}, on the embedded database`)
  const embedded = await runWithout(onlyFor.postgres)
  console.log(`seed ${values.seed}, on PostgreSQL`)
  const postgres = await withPostgres(() => runWithout(onlyFor.embedded), { durable: true })
  return { passed: embedded.passed + postgres.passed, failed: embedded.failed + postgres.failed }
})
