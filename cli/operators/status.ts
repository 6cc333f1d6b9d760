import { styleText } from 'node:util'
import type { HealthCheck, HealthStatus } from '@countersign/protocol/operations/health'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, stripControlCharacters } from '../terminal.ts'

export function addStatus(program: Command): void {
  program
    .command('status')
    .description('show what needs your attention on the server, and how to fix it')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const health = await call(settings, 'GET /api/admin/health', {})
      if (health.status === 'failing') process.exitCode = 1
      if (settings.json) return printJson(health)
      for (const check of health.checks) print(check)
      console.log(`\nCountersign ${stripControlCharacters(health.version)}: ${health.status}`)
    })
}

const marks: Record<HealthStatus, string> = {
  ok: styleText('green', '✔'),
  warning: styleText('yellow', '!'),
  failing: styleText('red', '✖'),
}

function print({ name, status, since, message, fix }: HealthCheck): void {
  const shown = since === null || status === 'ok' ? message : `${message} Since ${since}.`
  console.log(`${marks[status]} ${name.padEnd(18)}  ${stripControlCharacters(shown)}`)
  if (fix !== null) console.log(`                      ${stripControlCharacters(fix)}`)
}
