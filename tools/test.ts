/**
 * `npm test`: every test but those in a browser, on the embedded database; needs nothing but npm.
 * `npm run test:postgres`: those of them that take a database from the suite, on a PostgreSQL server that it starts
 * itself, or on that of TEST_DATABASE_URL; with `--racing` of those the ones that a database with many connections can
 * make go otherwise. Further arguments choose files: `npm test -- server/oauth`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leadingTo } from './sources.ts'
import { compilesQuickly, findTestFiles, keepFilesInMemory, runCommand, runTestFiles, withPostgres } from './suite.ts'

const options = { postgres: { type: 'boolean' }, racing: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const ofService = findTestFiles(['server', 'cli'], positionals)
const others = findTestFiles(['sdk', 'protocol', 'keys', 'web', 'tools'], positionals)
const takesDatabase = leadingTo(join(import.meta.dirname, '..'), 'server/testing/database.ts')
/** Whatever takes no database from here, or knows only what the service answers, is the same on either. */
const onPostgres = ofService.filter((file) => takesDatabase(file) && (!values.racing || isRacing(file)))
const files = values.postgres ? onPostgres : [...ofService, ...others]
// More than there are processors, commonly: many a test waits for a process, or for a second to pass.
const work = () => runTestFiles(files, { concurrency: 4, together: 6, execArgv: [compilesQuickly] })

if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
await runCommand(values.postgres ? () => withPostgres(work) : work)

/** Whether several ask at once in a test file, or a process does, or the database is looked at itself. */
function isRacing(file: string): boolean {
  return /Promise\.all|startService|startBeside|openTest(?:Pool|Database)/.test(readFileSync(file, 'utf8'))
}
