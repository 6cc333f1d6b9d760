/**
 * `npm run e2e`: the journeys in a real Chromium; with `--postgres` on a PostgreSQL server that it
 * starts itself, or on that of TEST_DATABASE_URL. Further arguments choose files: `npm run e2e -- sign-in`. `--write`
 * writes what the conformance modules saw to docs/conformance.md, which they are held against otherwise.
 */
import { parseArgs } from 'node:util'
import { Missing } from './postgres.ts'
import { findPrograms } from './program.ts'
import { compilesQuickly, findTestFiles, keepFilesInMemory, runCommand, runTestFiles, withPostgres } from './suite.ts'

const options = { postgres: { type: 'boolean' }, write: { type: 'boolean' } } as const
const { values, positionals } = parseArgs({ options, allowPositionals: true })

if (values.write) process.env.CONFORMANCE = 'write'
if (!values.postgres) delete process.env.TEST_DATABASE_URL
keepFilesInMemory()
const wholeBrowsers = ['chromium', 'chromium-browser', 'google-chrome']
await runCommand(() => {
  // In this order: what is named for all is then named for the whole one as well.
  process.env.WHOLE_CHROMIUM ??= process.env.CHROMIUM ?? findChromium(wholeBrowsers)
  process.env.CHROMIUM ??= findChromium(['chromium-headless-shell', ...wholeBrowsers])
  const files = findTestFiles(['e2e'], positionals)
  // More than there are processors, commonly: a journey waits for its pages; of too many, pages come late.
  const manner = { concurrency: 4, together: 4, longest: isLong, execArgv: [compilesQuickly] }
  const work = () => runTestFiles(files, manner)
  return values.postgres ? withPostgres(work) : work()
})

/** What would keep the others waiting if it came last, the walk past every page above all. */
function isLong(file: string): boolean {
  return /\/e2e\/(?:pages|organizations|encrypted-notes|device-approval)\.test\.ts$/.test(file)
}

/**
 * The shell is Chromium without its window, which nobody sees here: the same pages for two thirds of the work. It has
 * none of the dialogs in which a browser signs people in itself: for those it takes the whole.
 */
function findChromium(names: string[]): string {
  const [found] = names.flatMap((name) => findPrograms(name))
  if (!found)
    throw new Missing('Chromium is needed: apt-get install chromium chromium-headless-shell (or its path in CHROMIUM)')
  return found
}
