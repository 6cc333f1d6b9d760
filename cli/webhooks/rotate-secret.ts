import { styleText } from 'node:util'
import type { Command } from 'commander'
import { toSeconds } from '../apps/options.ts'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addRotateSecret(webhooks: Command): void {
  webhooks
    .command('rotate-secret')
    .description('give a webhook a new secret, which is shown this once')
    .argument('<clientId>')
    .option('--grace <seconds>', 'how long the old one signs too (at most 604800); without it, not at all', toSeconds)
    .action(async (clientId: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const given = { params: { clientId }, body }
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/webhook/secret', given)
      if (settings.json) return printJson(answer)

      printTable([
        ['Secret', answer.secret],
        ['The old one signs too', grace === undefined ? 'no longer' : `until ${answer.previousUntil}`],
      ])
      console.log(styleText('yellow', '\nThe secret is shown this once: store it now.'))
    })
}
