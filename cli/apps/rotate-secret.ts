import { styleText } from 'node:util'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { toSeconds } from './options.ts'

export function addRotateSecret(apps: Command): void {
  apps
    .command('rotate-secret')
    .description('give an app a new secret, which is shown this once')
    .argument('<clientId>')
    .option('--grace <seconds>', 'how long the old one still works (at most 604800); without it, not at all', toSeconds)
    .action(async (clientId: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/secret', { params: { clientId }, body })
      if (settings.json) return printJson(answer)

      const before = grace === undefined ? 'no longer' : `until ${answer.previousUntil}`
      printTable([
        ['Client secret', answer.clientSecret],
        ['The old one works', before],
      ])
      console.log(styleText('yellow', '\nThe secret is shown this once: store it now.'))
    })
}
