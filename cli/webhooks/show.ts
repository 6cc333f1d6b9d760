import type { Webhook } from '@countersign/protocol/clients/webhooks'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addShow(webhooks: Command): void {
  webhooks
    .command('show')
    .description('show where an app hears of what happened')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const webhook = await call(settings, 'GET /api/admin/apps/:clientId/webhook', { params: { clientId } })
      if (settings.json) return printJson(webhook)
      printTable(fieldsOf(webhook))
    })
}

/** A webhook as rows of a name and a value. */
export function fieldsOf({ url, status, createdAt, updatedAt }: Webhook): string[][] {
  return [
    ['URL', url],
    ['Status', status === 'active' ? status : 'disabled: the receiver said that it is gone (410)'],
    ['Created', createdAt],
    ['Changed', updatedAt],
  ]
}
