import type { Command } from 'commander'
import { call } from '../call.ts'
import { CancelledError, isInteractive, printJson, printTable, promptConfirmation } from '../terminal.ts'
import { settingsOf } from '../settings.ts'
import { styleText } from 'node:util'
import { toSeconds } from '../apps/options.ts'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import { changeService, printService } from './service.ts'
import { idHelp, isOfService } from './target.ts'

export function addRemove(webhooks: Command): void {
  webhooks
    .command('remove')
    .description('remove a webhook')
    .argument('<id>', idHelp)
    .option('--yes', 'skip the confirmation')
    .action(async (id: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')
      const message = 'Remove the webhook? Its pending deliveries are deleted too.'
      if (!yes && !(await promptConfirmation({ message, initialValue: false }))) throw new CancelledError()

      if (isOfService(id)) {
        await call(settings, 'DELETE /api/admin/webhooks/:webhookId', { params: { webhookId: id } })
        if (settings.json) return printJson({ webhookId: id, removed: true })
        return console.log(`The webhook ${id} was removed.`)
      }
      await call(settings, 'DELETE /api/admin/apps/:clientId/webhook', { params: { clientId: id } })
      if (settings.json) return printJson({ clientId: id, removed: true })
      console.log(`The webhook of ${id} was removed.`)
    })
}

export function addRotateSecret(webhooks: Command): void {
  webhooks
    .command('rotate-secret')
    .description('replace the secret of a webhook; prints the new one once')
    .argument('<id>', idHelp)
    .option('--grace <seconds>', 'how long the old secret also signs (at most 604800); default: not at all', toSeconds)
    .action(async (id: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const answer = isOfService(id)
        ? await call(settings, 'POST /api/admin/webhooks/:webhookId/secret', { params: { webhookId: id }, body })
        : await call(settings, 'POST /api/admin/apps/:clientId/webhook/secret', { params: { clientId: id }, body })
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
    .description('show a webhook')
    .argument('<id>', idHelp)
    .action(async (id: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      if (isOfService(id)) {
        const given = { params: { webhookId: id } }
        return printService(settings, await call(settings, 'GET /api/admin/webhooks/:webhookId', given))
      }
      const webhook = await call(settings, 'GET /api/admin/apps/:clientId/webhook', { params: { clientId: id } })
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
    .description('set the URL of a webhook; prints the secret when that of an app is created')
    .argument('<id>', idHelp)
    .argument('<url>')
    .action(async (id: string, url: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      if (isOfService(id)) return changeService(command, id, { url })
      const [body, clientId] = [{ url }, id]
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
    .description('send a test event to a webhook')
    .argument('<id>', idHelp)
    .action(async (id: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = isOfService(id)
        ? await call(settings, 'POST /api/admin/webhooks/:webhookId/test', { params: { webhookId: id } })
        : await call(settings, 'POST /api/admin/apps/:clientId/webhook/test', { params: { clientId: id } })
      if (settings.json) return printJson(answer)
      console.log(`${answer.deliveryId} will be delivered: countersign webhooks deliveries ${id}`)
    })
}
