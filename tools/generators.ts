/**
 * `npm run generators`: generates clients from the OpenAPI document with public generators in Go, TypeScript and
 * Python, and compiles them. It also renders and validates what deploys the service. It needs Go, Java, Python,
 * promtool and systemd-analyze, and fetches the other tools from the registries.
 */
import { findPrograms } from './program.ts'
import { Missing } from './postgres.ts'
import { findTestFiles, runCommand, runTestFiles } from './suite.ts'

const needed = {
  go: 'golang',
  java: 'default-jre-headless',
  python3: 'python3-venv',
  promtool: 'prometheus',
  'systemd-analyze': 'systemd',
}

await runCommand(() => {
  for (const [program, debianPackage] of Object.entries(needed))
    if (findPrograms(program).length === 0)
      throw new Missing(`${program} is required: apt-get install ${debianPackage}`)
  return runTestFiles(findTestFiles(['generators'], []), { concurrency: 2, fileTimeoutSeconds: 1200 })
})
