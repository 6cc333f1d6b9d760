/**
 * `npm test`: the tests that start no service and measure nothing, on the embedded database; needs nothing but npm.
 * `npm run test:system`: the rest but those in a browser, which start whole programs, or measure costs and fairness.
 * `npm run test:postgres`: those of both that take a database from the suite, on a PostgreSQL server that it starts
 * itself, or on that of `--url` or TEST_DATABASE_URL, and the one that counts the blocks that all requests read. On a
 * Citus cluster, their databases are distributed. The statements of their requests are checked: each stays with the
 * shards of given keys. Further arguments choose files of every kind: `npm test -- server/oauth`. `--coverage`
 * (`npm run coverage`) prints which lines of the product ran.
 */
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leadingTo } from './sources.ts'
import { compilesQuickly, findTestFiles, keepFilesInMemory, runCommand, runTestFiles, withPostgres } from './suite.ts'

const options = {
  system: { type: 'boolean', default: false },
  postgres: { type: 'boolean' },
  url: { type: 'string' },
  coverage: { type: 'boolean', default: false },
} as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })
const ofService = findTestFiles(['server', 'cli'], positionals)
const ofOthers = findTestFiles(['sdk', 'protocol', 'keys', 'saml', 'web', 'tools'], positionals)
const root = join(import.meta.dirname, '..')
const takesDatabase = leadingTo(root, 'server/testing/database.ts')
/** What takes no database from here is the same on either, and so is what measures parsers alone. */
const measuresParsers = (file: string) => /\/server\/test\/cost\/(?:request|answer)-cost\.test\.ts$/.test(file)
const onPostgres = ofService.filter((file) => takesDatabase(file) && !measuresParsers(file))
/** They start the product or its command as an operator does, or measure it. */
const startsService = leadingTo(root, 'server/testing/service.ts')
const startsCommand = (file: string) => file.startsWith(join(root, 'cli'))
const measures = (file: string) =>
  /-cost\.test\.ts$|\/(?:fairness|passkeys\/test\/(?:recovery|attestation)|saml-response)\.test\.ts$/.test(file)
const isOfSystem = (file: string) => measures(file) || startsService(file) || startsCommand(file)
/** It repeats requests of others to count what their statements read, which the embedded database does not report. */
const isOfPostgres = (file: string) => file.endsWith('/query-cost.test.ts')
const onEmbedded = [...ofService, ...ofOthers].filter(
  (file) => positionals.length > 0 || (isOfSystem(file) === values.system && !isOfPostgres(file)),
)
const files = values.postgres ? onPostgres : onEmbedded
/** They count the blocks that statements read, which others do not change, and take longest. */
const countsBlocks = (file: string) => /\/(?:query|log|claim|retention)-cost\.test\.ts$/.test(file)
/** They measure processor time, in proportion to that of a reference: one more on each processor changes neither. */
const measuresProcessorTime = (file: string) =>
  /\/(?:(?:saml|request|answer|people|wire|parser)-cost|saml-response)\.test\.ts$/.test(file)
/** On PostgreSQL its statements change 70,000 rows, within their time limit if the machine does nothing else. */
const large = /\/server\/(?:test\/(?:revocation|many-records)|oauth\/logout\/test\/many-records)\.test\.ts$/
const isLarge = (file: string) => values.postgres === true && large.test(file)
/** They measure time, or have little of it, and need the machine for themselves. */
const needsMachine = (file: string) =>
  isLarge(file) || (measures(file) && !countsBlocks(file) && !measuresProcessorTime(file))
/** Files that run in one process: they load the service once. Those of the system mostly start it as another one. */
const together = values.system ? 6 : 16
/** They replace globals of Node with those of a document, so each runs in a process of its own. */
const isOfComponents = (file: string) => file.endsWith('.component.test.ts')
const loader = `--import=${join(root, 'web/testing/components.ts')}`
// More than there are processors, commonly: many a test waits for a process, or for a second to pass.
const common = { execArgv: [compilesQuickly], coverage: values.coverage, fileTimeoutSeconds: 600 }
const isOrdinary = (file: string) => !needsMachine(file) && !measuresProcessorTime(file) && !isOfComponents(file)
const runs = [
  { files: files.filter(isOrdinary), manner: { ...common, concurrency: 4, together, longest: countsBlocks } },
  { files: files.filter(measuresProcessorTime), manner: { ...common, concurrency: 2 } },
  { files: files.filter(needsMachine), manner: { ...common, concurrency: 1 } },
  { files: files.filter(isOfComponents), manner: { concurrency: 4, execArgv: [loader] } },
]
const work = async () => {
  const counts = { passed: 0, failed: 0 }
  await using statements = await mkdtempDisposable(join(tmpdir(), 'countersign-statements-'))
  if (values.postgres) process.env.TEST_STATEMENTS = statements.path
  for (const run of runs.filter((one) => one.files.length > 0)) {
    const { passed, failed } = await runTestFiles(run.files, run.manner)
    counts.passed += passed
    counts.failed += failed
  }
  const stray = values.postgres ? await findStrayStatements(statements.path) : []
  for (const one of stray) console.error(`${one}\n`)
  if (stray.length > 0)
    console.error(`${stray.length} statements stray from their shards: tools/sharding/exceptions.ts`)
  return { ...counts, failed: counts.failed + stray.length }
}

/** Loaded here, because it needs the whole service. */
async function findStrayStatements(folder: string): Promise<string[]> {
  const { checkStatements, readRecorded } = await import('./sharding/check.ts')
  return checkStatements(readRecorded(folder))
}

if (values.url !== undefined) process.env.TEST_DATABASE_URL = values.url
if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
await runCommand(values.postgres ? () => withPostgres(work) : work)
