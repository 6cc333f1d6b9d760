import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { idHelp, isOfService } from './target.ts'

export function addDeliveries(webhooks: Command): void {
  webhooks
    .command('deliveries')
    .description('list deliveries of a webhook in the last 30 days, newest first')
    .argument('<id>', idHelp)
    .option('--before <deliveryId>', 'continue after the last delivery of a page')
    .action(async (id: string, { before }: { before?: string }, command: Command) => {
      const settings = settingsOf(command)
      const querystring = before === undefined ? {} : { cursor: before }
      const answer = isOfService(id)
        ? await call(settings, 'GET /api/admin/webhooks/:webhookId/deliveries', {
            params: { webhookId: id },
            querystring,
          })
        : await call(settings, 'GET /api/admin/apps/:clientId/webhook/deliveries', {
            params: { clientId: id },
            querystring,
          })
      if (settings.json) return printJson(answer)
      if (answer.deliveries.length === 0) return console.log(`No deliveries yet: countersign webhooks test ${id}`)

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
    .argument('<id>', idHelp)
    .argument('<deliveryId>')
    .action(async (id: string, deliveryId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const delivery = isOfService(id)
        ? await call(settings, 'POST /api/admin/webhooks/:webhookId/deliveries/:deliveryId/send', {
            params: { webhookId: id, deliveryId },
          })
        : await call(settings, 'POST /api/admin/apps/:clientId/webhook/deliveries/:deliveryId/send', {
            params: { clientId: id, deliveryId },
          })
      if (settings.json) return printJson(delivery)
      console.log(`${deliveryId} will be delivered again: countersign webhooks deliveries ${id}`)
    })
}
