/**
 * `npm test`: every test but those in a browser, on the embedded database; needs nothing but npm.
 * `npm run test:postgres`: those of them that take a database from the suite, on a PostgreSQL server that it starts
 * itself, or on that of TEST_DATABASE_URL. Further arguments choose files: `npm test -- server/oauth`.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leadingTo } from './sources.ts'
import { compilesQuickly, findTestFiles, keepFilesInMemory, runCommand, runTestFiles, withPostgres } from './suite.ts'

const options = { postgres: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const ofService = findTestFiles(['server', 'cli'], positionals)
const others = findTestFiles(['sdk', 'protocol', 'keys', 'web', 'tools'], positionals)
const root = join(import.meta.dirname, '..')
const takesDatabase = leadingTo(root, 'server/testing/database.ts')
/** What takes no database from here is the same on either, and so is what measures parsers alone. */
const measuresParsers = (file: string) => /\/server\/(?:request|answer)-cost\.test\.ts$/.test(file)
const onPostgres = ofService.filter((file) => takesDatabase(file) && !measuresParsers(file))
const files = values.postgres ? onPostgres : [...ofService, ...others]
// More than there are processors, commonly: many a test waits for a process, or for a second to pass.
const manner = { concurrency: 4, together: 6, execArgv: [compilesQuickly] }
const work = () => runTestFiles(files, manner)

if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
await runCommand(values.postgres ? () => withPostgres(work) : work)
