import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addDeliveries(webhooks: Command): void {
  webhooks
    .command('deliveries')
    .description('list webhook deliveries of an app in the last 30 days, newest first')
    .argument('<clientId>')
    .option('--before <deliveryId>', 'continue after the last delivery of a page')
    .action(async (clientId: string, { before }: { before?: string }, command: Command) => {
      const settings = settingsOf(command)
      const given = { params: { clientId }, querystring: before === undefined ? {} : { cursor: before } }
      const answer = await call(settings, 'GET /api/admin/apps/:clientId/webhook/deliveries', given)
      if (settings.json) return printJson(answer)
      if (answer.deliveries.length === 0) return console.log(`No deliveries yet: countersign webhooks test ${clientId}`)

      const heads = ['Delivery', 'Type', 'Created', 'State', 'Attempts', 'Last answer', 'Next attempt']
      printTable([heads, ...answer.deliveries.map(cellsOf)])
      if (answer.nextCursor) console.log(`\nMore results: --before ${answer.nextCursor}`)
    })
}

function cellsOf({ deliveryId, type, createdAt, state, attempts, nextAttemptAt }: WebhookDelivery): string[] {
  const { status, reason } = attempts.at(-1) ?? { status: null, reason: null }
  return [deliveryId, type, createdAt, state, String(attempts.length), `${status ?? reason ?? ''}`, nextAttemptAt ?? '']
}

export function addSendAgain(webhooks: Command): void {
  webhooks
    .command('send-again')
    .description('redeliver a failed webhook event')
    .argument('<clientId>')
    .argument('<deliveryId>')
    .action(async (clientId: string, deliveryId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const params = { clientId, deliveryId }
      const endpoint = 'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send'
      const delivery = await call(settings, endpoint, { params })
      if (settings.json) return printJson(delivery)
      console.log(`${deliveryId} will be delivered again: countersign webhooks deliveries ${clientId}`)
    })
}
