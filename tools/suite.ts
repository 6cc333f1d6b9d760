import { appendFileSync, existsSync, globSync, readFileSync, statfsSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative } from 'node:path'
import { finished } from 'node:stream/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { exposesHooks } from './async-tracking.ts'
import { endingSignals, Missing, startPostgres } from './postgres.ts'

export type Counts = { passed: number; failed: number }

const root = join(import.meta.dirname, '..')

/** Compiles the embedded database quickly rather than well: most files are done before optimization would pay. */
export const compilesQuickly = '--liftoff-only'

const memory = '/dev/shm'
const memoryBytesMin = 4 * 1024 ** 3

/**
 * Puts temporary files in memory if there is enough: writing the databases of tests to a disk takes a third of the time
 * of all tests.
 */
export function keepFilesInMemory(): void {
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return
  const { bavail, bsize } = statfsSync(memory)
  if (bavail * bsize >= memoryBytesMin) process.env.TMPDIR = memory
}

/** Runs the work of a command and prints its counts. A missing program is reported in one line, with exit code 1. */
export async function runCommand(work: () => Promise<Counts>): Promise<void> {
  try {
    reportCounts(await work())
  } catch (error) {
    if (!(error instanceof Missing)) throw error
    console.error(error.message)
    process.exitCode = 1
  }
}

/** Runs the work with TEST_DATABASE_URL set: to the given one, or to a temporary cluster. */
export async function withPostgres(work: () => Promise<Counts>, { durable = false } = {}): Promise<Counts> {
  if (process.env.TEST_DATABASE_URL) return withTemplate(process.env.TEST_DATABASE_URL, work)
  await using cluster = await startPostgres({ durable })
  process.env.TEST_DATABASE_URL = cluster.url
  try {
    return await withTemplate(cluster.url, work)
  } finally {
    delete process.env.TEST_DATABASE_URL
  }
}

/** Tests get copies of one migrated database, whose nodes are those of the given one. */
async function withTemplate(url: string, work: () => Promise<Counts>): Promise<Counts> {
  // Loaded here, because it needs the whole service.
  const { createTemplate } = await import('./database-template.ts')
  const template = await createTemplate(url)
  process.env.TEST_DATABASE_TEMPLATE = template.url
  try {
    return await work()
  } finally {
    delete process.env.TEST_DATABASE_TEMPLATE
    await template.drop()
  }
}

/** Finds the test files under those folders; with filters, those whose path contains one of them. */
export function findTestFiles(folders: string[], filters: string[]): string[] {
  const patterns = folders.map((folder) => `${folder}/**/*.test.ts`)
  const files = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**'] }).toSorted()
  const requested = filters.map((filter) => (isAbsolute(filter) ? relative(root, filter) : filter.replace(/^\.\//, '')))
  const found =
    requested.length === 0 ? files : files.filter((file) => requested.some((filter) => file.includes(filter)))
  return found.map((file) => join(root, file))
}

/**
 * `execArgv` are flags of Node for each process; `together` is the maximum number of files that run in one, one after
 * another. The slowest files start first, each in a process of its own.
 */
type RunOptions = {
  concurrency: number
  together?: number
  longest?: (file: string) => boolean
  fileTimeoutSeconds?: number
  execArgv?: string[]
  /** Prints at the end which lines of the product ran. */
  coverage?: boolean
}

/** Time for which a process may run after its last test. */
const lingeringMilliseconds = 10_000

/** Files that a coverage report omits. */
const notOfProduct = ['**/test/**', '**/testing/**', 'tools/**', 'node_modules/**', '/dev/shm/**', '/tmp/**']

/**
 * Runs the files and prints the results, with all failures at the end. A file without a test counts as a failure: node
 * passes it, and a lost test would look like success. Compiled code of one process is reused by the next, and files
 * that run together load it once, because every file needs most of the service. A process is ended soon after its last
 * test: one that a failed hook has left open would not end, since `timeout` does not end it either (Node 26.10).
 * `--test-force-exit` is not an alternative: it loses the results that have not been read yet.
 */
export async function runTestFiles(
  files: string[],
  { concurrency, together = 1, longest = () => false, fileTimeoutSeconds = 300, execArgv = [], coverage }: RunOptions,
): Promise<Counts> {
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/tests')
  const stopping = new AbortController()
  for (const signal of endingSignals) process.prependOnceListener(signal, () => stopping.abort())

  await using folder = await mkdtempDisposable(join(tmpdir(), 'countersign-tests-'))
  const timeout = fileTimeoutSeconds * 1000
  const costs = join(folder.path, 'costs')
  const others = files.filter((file) => !longest(file))
  const groups = [...files.filter(longest).map((file) => [file]), ...groupFiles(others, together, concurrency)].map(
    (group, index) => writeGroup(join(folder.path, `${index}.mjs`), group, { timeout, costs }),
  )
  const counts = { passed: 0, failed: 0 }
  let wentWell = true
  const events = run({
    files: groups,
    concurrency,
    execArgv: [exposesHooks, ...execArgv],
    timeout: timeout * together,
    signal: stopping.signal,
    ...(coverage && { coverage, coverageExcludeGlobs: notOfProduct, cwd: root }),
  })
  const empty: string[] = []
  let ran = 0
  // The events of one process arrive in its order: the tests of a file, then the end of the file.
  for (const event of ['test:pass', 'test:fail'] as const)
    events.on(event, ({ name, nesting, details }) => {
      if (details.type !== 'suite') ran += 1
      else if (nesting === 0 && ran === 0) empty.push(name)
      if (nesting === 0) ran = 0
    })
  events.on('test:summary', ({ file, success, counts: { tests, passed, skipped, todo } }) => {
    if (file !== undefined) return
    counts.passed = passed
    counts.failed = tests - passed - skipped - todo
    wentWell = success
  })
  events.on('test:fail', ({ name, details: { error } }) => noteFailure(name, error))
  const output = events.compose(spec)
  output.pipe(process.stdout)
  await finished(output)

  for (const name of empty) console.error(`${name} contains no test that ran`)
  if (existsSync(costs)) console.log(describeCosts(readFileSync(costs, 'utf8')))
  return { passed: counts.passed, failed: Math.max(counts.failed + empty.length, wentWell ? 0 : 1) }
}

/** Groups the files of a process. The last groups are small, so that no process runs long after all others. */
function groupFiles(files: string[], together: number, concurrency: number): string[][] {
  if (files.length === 0) return []
  const fair = Math.ceil(files.length / (2 * concurrency))
  const size = Math.min(together, Math.max(fair, 2))
  return [files.slice(0, size), ...groupFiles(files.slice(size), together, concurrency)]
}

/**
 * Returns a module that runs files one after another, each with its own hooks. It adds a line for each to the file
 * `costs`: the processor time of its tests in milliseconds, with that of processes that they started and awaited, and
 * its name.
 */
function writeGroup(path: string, files: string[], { timeout, costs }: { timeout: number; costs: string }): string {
  const suites = files.map((file) => {
    const [name, module] = [relative(root, file), pathToFileURL(file).href].map((text) => JSON.stringify(text))
    return `suite(${name}, { timeout: ${timeout} }, () => measured(${name}, () => import(${module})))\n`
  })
  const measured = `const loading = []
function measured(name, load) {
  let start
  before(() => { start = processorMilliseconds() })
  after(() => appendFileSync(${JSON.stringify(costs)}, processorMilliseconds() - start + ' ' + name + '\\n'))
  const loaded = load()
  loading.push(loaded)
  return loaded
}
`
  const imports = `import { appendFileSync } from 'node:fs'
import { after, before, suite } from 'node:test'
import { endAsyncTracking } from ${JSON.stringify(import.meta.resolve('./async-tracking.ts'))}
import { endTests } from ${JSON.stringify(import.meta.resolve('./end-of-tests.ts'))}
import { processorMilliseconds } from ${JSON.stringify(import.meta.resolve('./processor-time.ts'))}
`
  const declared = 'await Promise.allSettled(loading)\nendAsyncTracking()\n'
  // The timer keeps no process alive, and ends one that is kept alive by something else.
  const ending = `after(() => {
  setTimeout(() => process.exit(), ${lingeringMilliseconds}).unref()
  return endTests()
})
`
  writeFileSync(path, imports + measured + ending + suites.join('') + declared)
  return path
}

const costliestFiles = 12

/** Returns the files that take the most processor time, and the total. */
function describeCosts(lines: string): string {
  const costs = lines.trim().split('\n')
  const files = costs.map((line) => ({ line, milliseconds: Number.parseInt(line, 10) }))
  const sum = files.reduce((total, { milliseconds }) => total + milliseconds, 0)
  const costliest = files.toSorted((a, b) => b.milliseconds - a.milliseconds).slice(0, costliestFiles)
  const described = costliest.map(({ line }) => `  ${line.replace(' ', ' ms: ')}`)
  return [`${Math.round(sum / 1000)} s of processor time in ${files.length} files, most of it in`, ...described].join(
    '\n',
  )
}

const failureCharactersMax = 3000

/** Adds the failures to the file that TEST_FAILURES names, for readers who see only the end of a long output. */
function noteFailure(name: string, error: Error): void {
  const isSum = 'failureType' in error && error.failureType === 'subtestsFailed'
  if (!process.env.TEST_FAILURES || isSum) return
  const description = inspect(error.cause ?? error).slice(0, failureCharactersMax)
  appendFileSync(process.env.TEST_FAILURES, `✖ ${name}\n${description.replaceAll(/^/gm, '  ')}\n\n`)
}

/** Prints the last line, for people and CI, and adds it to the file that TEST_COUNTS names. */
export function reportCounts({ passed, failed }: Counts): void {
  if (passed + failed === 0) console.error('No test ran.')
  console.log(`${passed} passed, ${failed} failed`)
  if (process.env.TEST_COUNTS) appendFileSync(process.env.TEST_COUNTS, `${passed} ${failed}\n`)
  if (failed > 0 || passed === 0) process.exitCode = 1
}
