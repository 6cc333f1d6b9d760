import { styleText } from 'node:util'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { fieldsOf } from './show.ts'

export function addSet(webhooks: Command): void {
  webhooks
    .command('set')
    .description('set where an app hears of what happened; the first time its secret is shown, this once')
    .argument('<clientId>')
    .argument('<url>')
    .action(async (clientId: string, url: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const body = { url }
      const webhook = await call(settings, 'PUT /api/admin/apps/:clientId/webhook', { params: { clientId }, body })
      if (settings.json) return printJson(webhook)

      const { secret } = webhook
      printTable([...fieldsOf(webhook), ...(secret ? [['Secret', secret]] : [])])
      if (secret) console.log(styleText('yellow', '\nThe secret is shown this once: store it now.'))
    })
}
