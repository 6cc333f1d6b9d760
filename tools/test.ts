/**
 * `npm test`: every test but those in a browser, on the embedded database; needs nothing but npm.
 * `npm run test:postgres`: those of them that have a database, on a PostgreSQL server that it starts itself, or on that
 * of TEST_DATABASE_URL. Further arguments choose files: `npm test -- server/oauth`.
 */
import { parseArgs } from 'node:util'
import { compilesQuickly, findTestFiles, keepFilesInMemory, runCommand, runTestFiles, withPostgres } from './suite.ts'

const { values, positionals } = parseArgs({ options: { postgres: { type: 'boolean' } }, allowPositionals: true })
/** Whatever has no database is the same on either. */
const everywhere = ['server', 'cli', 'sdk']
const folders = values.postgres ? everywhere : [...everywhere, 'protocol', 'keys', 'web', 'tools']
const files = findTestFiles(folders, positionals)
// More than there are processors, commonly: many a test waits for a process, or for a second to pass.
const work = () => runTestFiles(files, { concurrency: 3, execArgv: [compilesQuickly] })

if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
await runCommand(values.postgres ? () => withPostgres(work) : work)
