/**
 * `npm test`: every test but those in a browser, on the embedded database; needs nothing but npm.
 * `npm run test:postgres`: the same on a PostgreSQL server that it starts itself, or on that of TEST_DATABASE_URL.
 * Further arguments choose files: `npm test -- server/oauth`.
 */
import { parseArgs } from 'node:util'
import { findTestFiles, runCommand, runTestFiles, withPostgres } from './suite.ts'

const { values, positionals } = parseArgs({ options: { postgres: { type: 'boolean' } }, allowPositionals: true })
const files = findTestFiles(['protocol', 'keys', 'server', 'cli', 'web', 'tools'], positionals)
const work = () => runTestFiles(files, { concurrency: 2 })

if (!values.postgres) delete process.env.TEST_DATABASE_URL
await runCommand(values.postgres ? () => withPostgres(work) : work)
