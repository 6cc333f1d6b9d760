import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'

export function addTest(webhooks: Command): void {
  webhooks
    .command('test')
    .description('send an app an event of the type webhook.test')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/webhook/test', { params: { clientId } })
      if (settings.json) return printJson(answer)
      console.log(`${answer.deliveryId} is on its way: countersign webhooks deliveries ${clientId}`)
    })
}
