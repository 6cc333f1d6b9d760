/**
 * `npm run e2e`: the journeys in a real Chromium, and the main ones in other browsers. With `--postgres` they run on a
 * PostgreSQL server that the command starts, or on the one of TEST_DATABASE_URL. Further arguments select files:
 * `npm run e2e -- sign-in`. `--write` writes the results of the conformance modules to docs/conformance.md; otherwise
 * they are compared with it.
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
const chromium = 'Chromium is needed: apt-get install chromium chromium-headless-shell (or its path in CHROMIUM)'
const wholeBrowsers = ['chromium', 'chromium-browser', 'google-chrome']
const firefox = 'Firefox is needed: apt-get install firefox-esr (or its path in FIREFOX)'
const firefoxes = ['firefox-esr', 'firefox']
const webkit = 'WebKit is needed: apt-get install webkit2gtk-driver xvfb (or their paths in WEBKIT_DRIVER and XVFB)'
await runCommand(() => {
  // Chromium's headless shell renders the same pages with two thirds of the work. It has no FedCM dialogs; tests of
  // those use the whole browser, which is assigned first: a CHROMIUM of the caller is used for both.
  process.env.WHOLE_CHROMIUM ??= process.env.CHROMIUM ?? find(chromium, wholeBrowsers)
  process.env.CHROMIUM ??= find(chromium, ['chromium-headless-shell', ...wholeBrowsers])
  const files = findTestFiles(['e2e'], positionals)
  if (files.some((file) => file.endsWith('/firefox.test.ts'))) process.env.FIREFOX ??= find(firefox, firefoxes)
  if (files.some((file) => file.endsWith('/webkit.test.ts'))) {
    process.env.WEBKIT_DRIVER ??= find(webkit, ['WebKitWebDriver'])
    process.env.XVFB ??= find(webkit, ['Xvfb'])
  }
  // More files than processors, because a journey mostly waits for its pages. With too many, pages become slow.
  // The visit of every page takes minutes beside others.
  const manner = { concurrency: 4, together: 6, longest: isLong, fileTimeoutSeconds: 900, execArgv: [compilesQuickly] }
  const work = () => runTestFiles(files, manner)
  return values.postgres ? withPostgres(work) : work()
})

/** The longest files start first, above all the visit of every page, so that none runs alone at the end. */
function isLong(file: string): boolean {
  return /\/e2e\/.*\/(?:pages|organizations|log-lies|encrypted-notes|device-approval|webkit)\.test\.ts$/.test(file)
}

/** Returns the first of these programs. Throws the sentence if there is none. */
function find(missing: string, names: string[]): string {
  const [found] = names.flatMap((name) => findPrograms(name))
  if (!found) throw new Missing(missing)
  return found
}
