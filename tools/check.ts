/**
 * `npm run check`: everything that can be said of the code without running the product. Each check is one line with its
 * time; the output of those that failed follows.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { reportCounts } from './suite.ts'

const root = join(import.meta.dirname, '..')
const environment = { ...process.env, PATH: [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter) }

const checks = [
  ...['.', 'keys', 'web', 'sdk', 'e2e']
    .filter((folder) => existsSync(join(root, folder, 'tsconfig.json')))
    .map((folder) => ({ name: folder === '.' ? 'types' : `types of ${folder}`, command: `tsc -p ${folder}` })),
  { name: 'lint', command: 'oxlint --type-aware --deny-warnings' },
  { name: 'format', command: 'oxfmt --check' },
  { name: 'imports', command: 'node tools/import-rules.ts' },
  { name: 'tidiness', command: 'node tools/tidy.ts' },
  { name: 'regular expressions', command: 'node tools/regexps.ts' },
  { name: 'row types', command: 'node tools/tables.ts --check' },
  { name: 'operations', command: 'node tools/sdk-types.ts --check' },
  { name: 'cases', command: 'node tools/cases.ts --check' },
  { name: 'growth', command: 'node tools/growth.ts' },
  { name: 'links', command: 'node tools/links.ts' },
  { name: 'lock file', command: 'npm ci --dry-run --ignore-scripts' },
]

const failures: { name: string; output: string }[] = []
for (const { name, command } of checks) {
  const startedAt = performance.now()
  const { succeeded, output } = await runCheck(command)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${succeeded ? '✔' : '✖'} ${name} (${command}, ${seconds} s)`)
  if (!succeeded) failures.push({ name, output })
}
for (const { name, output } of failures) console.log(`\n✖ ${name}\n${output.trim()}`)
if (failures.length > 0) console.log()
reportCounts({ passed: checks.length - failures.length, failed: failures.length })

async function runCheck(command: string): Promise<{ succeeded: boolean; output: string }> {
  const [program = '', ...options] = command.split(' ')
  const child = spawn(program, options, { cwd: root, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  const { promise: succeeded, resolve, reject } = Promise.withResolvers<boolean>()
  child.once('error', reject).once('close', (code) => resolve(code === 0))
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
  return { succeeded: await succeeded, output: stdout + stderr }
}
