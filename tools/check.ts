/**
 * `npm run check`: checks the code without running the product. It prints one line for each check with its time, then
 * the output of the checks that failed. `node tools/check.ts types` runs those whose names begin with `types`.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { compilesQuickly, reportCounts } from './suite.ts'

const root = join(import.meta.dirname, '..')
const environment = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }

const checks = [
  ...['.', 'keys', 'saml', 'web', 'sdk', 'e2e']
    .filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))
    .map((folder) => ({ name: folder === '.' ? 'types' : `types of ${folder}`, command: `tsc -p ${folder}` })),
  { name: 'lint', command: 'oxlint --type-aware --deny-warnings' },
  { name: 'format', command: 'oxfmt --check' },
  { name: 'imports', command: 'node tools/import-rules.ts' },
  { name: 'language', command: 'node tools/language.ts' },
  { name: 'tidiness', command: 'node tools/tidy.ts' },
  { name: 'unused code', command: 'knip --no-progress --no-config-hints' },
  { name: 'regular expressions', command: 'node tools/regexps.ts' },
  { name: 'row types', command: `node ${compilesQuickly} tools/tables.ts --check` },
  { name: 'operations', command: 'node tools/sdk-types.ts --check' },
  { name: 'cases', command: 'node tools/security-test-index.ts --check' },
  { name: 'growth', command: 'node tools/growth.ts' },
  { name: 'links', command: 'node tools/links.ts' },
  { name: 'lock file', command: 'npm ci --dry-run --ignore-scripts' },
]

/** Checks whose names begin with the argument, or all of them. */
const [, , prefix = ''] = process.argv
const selected = checks.filter(({ name }) => name.startsWith(prefix))

const failures: { name: string; output: string }[] = []
for (const { name, command } of selected) {
  const startedAt = performance.now()
  const { succeeded, output } = await runCheck(command)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${succeeded ? '✔' : '✖'} ${name} (${command}, ${seconds} s)`)
  if (!succeeded) failures.push({ name, output })
}
for (const { name, output } of failures) console.log(`\n✖ ${name}\n${output.trim()}`)
if (failures.length > 0) console.log()
reportCounts({ passed: selected.length - failures.length, failed: failures.length })

async function runCheck(command: string): Promise<{ succeeded: boolean; output: string }> {
  const [program = '', ...options] = command.split(' ')
  const child = spawn(program, options, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const { promise: succeeded, resolve, reject } = Promise.withResolvers<boolean>()
  child.once('error', reject).once('close', (code) => resolve(code === 0))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { succeeded: await succeeded, output: stdout + stderr }
}
