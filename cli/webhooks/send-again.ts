import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'

export function addSendAgain(webhooks: Command): void {
  webhooks
    .command('send-again')
    .description('send an app again what was given up')
    .argument('<clientId>')
    .argument('<deliveryId>')
    .action(async (clientId: string, deliveryId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const params = { clientId, deliveryId }
      const endpoint = 'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send'
      const delivery = await call(settings, endpoint, { params })
      if (settings.json) return printJson(delivery)
      console.log(`${deliveryId} is on its way again: countersign webhooks deliveries ${clientId}`)
    })
}
