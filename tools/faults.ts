/**
 * `npm run faults`: the service is killed, and its database is stopped, frozen and cut off; nothing may break. First on
 * the embedded database, then on a durable PostgreSQL of its own. `--rounds 20` is the long form. Further arguments
 * choose files.
 */
import { basename } from 'node:path'
import { parseArgs } from 'node:util'
import { findTestFiles, runCommand, runTestFiles, withPostgres, type Counts } from './suite.ts'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
  },
  allowPositionals: true,
})
process.env.FAULT_ROUNDS = values.rounds

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
  console.log('On the embedded database')
  const embedded = await runWithout(onlyFor.postgres)
  console.log('On PostgreSQL')
  const postgres = await withPostgres(() => runWithout(onlyFor.embedded), { durable: true })
  return { passed: embedded.passed + postgres.passed, failed: embedded.failed + postgres.failed }
})
