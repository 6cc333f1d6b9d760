import type { Command } from 'commander'
import { call } from '../call.ts'
import { CancelledError, isInteractive, printJson, printTable, promptConfirmation } from '../terminal.ts'
import { settingsOf } from '../settings.ts'
import { styleText } from 'node:util'
import { toSeconds } from '../apps/options.ts'
import type { Webhook } from '@countersign/protocol/clients/webhooks'

export function addRemove(webhooks: Command): void {
  webhooks
    .command('remove')
    .description("remove an app's webhook")
    .argument('<clientId>')
    .option('--yes', 'skip the confirmation')
    .action(async (clientId: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')
      const message = 'Remove the webhook? Its pending deliveries are deleted too.'
      if (!yes && !(await promptConfirmation({ message, initialValue: false }))) throw new CancelledError()

      await call(settings, 'DELETE /api/admin/apps/:clientId/webhook', { params: { clientId } })
      if (settings.json) return printJson({ clientId, removed: true })
      console.log(`The webhook of ${clientId} was removed.`)
    })
}

export function addRotateSecret(webhooks: Command): void {
  webhooks
    .command('rotate-secret')
    .description('replace the secret of a webhook; prints the new one once')
    .argument('<clientId>')
    .option('--grace <seconds>', 'how long the old secret also signs (at most 604800); default: not at all', toSeconds)
    .action(async (clientId: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const given = { params: { clientId }, body }
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/webhook/secret', given)
      if (settings.json) return printJson(answer)

      printTable([
        ['Secret', answer.secret],
        ['The old secret also signs', grace === undefined ? 'no longer' : `until ${answer.previousUntil}`],
      ])
      console.log(styleText('yellow', '\nStore the webhook secret now. It will not be shown again.'))
    })
}

export function addShow(webhooks: Command): void {
  webhooks
    .command('show')
    .description("show an app's webhook")
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const webhook = await call(settings, 'GET /api/admin/apps/:clientId/webhook', { params: { clientId } })
      if (settings.json) return printJson(webhook)
      printTable(fieldsOf(webhook))
    })
}

/** Returns a webhook as rows of name and value. */
function fieldsOf({ url, status, createdAt, updatedAt }: Webhook): string[][] {
  return [
    ['URL', url],
    ['Status', status === 'active' ? status : 'disabled: the receiver responded with status 410 (gone)'],
    ['Created', createdAt],
    ['Changed', updatedAt],
  ]
}

export function addSet(webhooks: Command): void {
  webhooks
    .command('set')
    .description("set an app's webhook URL; prints the secret when the webhook is created")
    .argument('<clientId>')
    .argument('<url>')
    .action(async (clientId: string, url: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const body = { url }
      const webhook = await call(settings, 'PUT /api/admin/apps/:clientId/webhook', { params: { clientId }, body })
      if (settings.json) return printJson(webhook)

      const { secret } = webhook
      printTable([...fieldsOf(webhook), ...(secret ? [['Secret', secret]] : [])])
      if (secret) console.log(styleText('yellow', '\nStore the webhook secret now. It will not be shown again.'))
    })
}

export function addTest(webhooks: Command): void {
  webhooks
    .command('test')
    .description('send a test event (webhook.test) to an app')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/webhook/test', { params: { clientId } })
      if (settings.json) return printJson(answer)
      console.log(`${answer.deliveryId} will be delivered: countersign webhooks deliveries ${clientId}`)
    })
}
