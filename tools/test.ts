/**
 * `npm test`: every test but those in a browser, on the embedded database; needs nothing but npm.
 * `npm run test:postgres`: those of them that take a database from the suite, on a PostgreSQL server that it starts
 * itself, or on that of TEST_DATABASE_URL; with `--racing` of those the ones that a database with many connections can
 * make go otherwise: where two processes ask it, and where by their names several ask at once. Further arguments
 * choose files: `npm test -- server/oauth`.
 */
import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { leadingTo } from './sources.ts'
import {
  compilesQuickly,
  findTestFiles,
  keepFilesInMemory,
  runCommand,
  runTestFiles,
  withPostgres,
  type Counts,
} from './suite.ts'

const options = { postgres: { type: 'boolean' }, racing: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const ofService = findTestFiles(['server', 'cli'], positionals)
const others = findTestFiles(['sdk', 'protocol', 'keys', 'web', 'tools'], positionals)
const root = join(import.meta.dirname, '..')
const takesDatabase = leadingTo(root, 'server/testing/database.ts')
/** Whatever takes no database from here, or knows only what the service answers, is the same on either. */
const onPostgres = ofService.filter(takesDatabase)
const files = values.postgres ? onPostgres : [...ofService, ...others]
// More than there are processors, commonly: many a test waits for a process, or for a second to pass.
const manner = { concurrency: 4, together: 6, execArgv: [compilesQuickly] }
const work = () => (values.racing ? raceFiles() : runTestFiles(files, manner))

/** What a test says in its name where several ask at once. */
const racing =
  /once\b|while\b|\bat the same\b|concurrent|parallel|together|\brac(?:e|es|ed|ing)\b|\bmeets?\b|under load|\bof \d+\b/

if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
await runCommand(values.postgres ? () => withPostgres(work) : work)

/** Runs all of a file in which two processes ask the database, or it is asked itself; of others what races there. */
function raceFiles(): Promise<Counts> {
  const whole = files.filter((file) => /startBeside|openTest(?:Pool|Database)/.test(read(file)))
  const parts = files.filter((file) => !whole.includes(file) && namesIn(file).some((name) => racing.test(name)))
  // A file is a suite of its own name: with that, all in it is named.
  const named = [racing.source, ...whole.map((file) => RegExp.escape(relative(root, file)))].join('|')
  const longest = (file: string) => whole.includes(file)
  return runTestFiles([...whole, ...parts], { ...manner, longest, named: new RegExp(named) })
}

function namesIn(file: string): string[] {
  return [...read(file).matchAll(/\btest\(\s*(['`])(.*?)\1/gs)].map(([, , name = '']) => name)
}

function read(file: string): string {
  return readFileSync(file, 'utf8')
}
