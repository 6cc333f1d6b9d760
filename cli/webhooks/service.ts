import { styleText } from 'node:util'
import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import { selectableEventTypes } from '@countersign/protocol/clients/webhook-events'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { call } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

type EventType = (typeof selectableEventTypes)[number]

export function addList(webhooks: Command): void {
  webhooks
    .command('list')
    .description('list the webhooks of the service, which get the events of all identities and groups')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/webhooks', {})
      if (settings.json) return printJson(answer)
      if (answer.webhooks.length === 0) return console.log('None yet.')
      const rows = answer.webhooks.map((webhook) => {
        const { webhookId, url, events, status } = webhook
        return [webhookId, url, events.join(', ') || 'all', status, lastAnswerOf(webhook)]
      })
      printTable([['Webhook', 'URL', 'Events', 'Status', 'Last answer'], ...rows])
    })
}

export function addAdd(webhooks: Command): void {
  webhooks
    .command('add')
    .description('add a webhook of the service; prints its secret once')
    .argument('<url>')
    .addOption(eventOption())
    .action(async (url: string, { event: events }: { event?: EventType[] }, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'POST /api/admin/webhooks', { body: { url, ...(events && { events }) } })
      if (settings.json) return printJson(answer)
      printTable([...rowsOf(answer.webhook), ['Secret', answer.secret]])
      console.log(styleText('yellow', '\nStore the webhook secret now. It will not be shown again.'))
    })
}

export function addSelect(webhooks: Command): void {
  webhooks
    .command('select')
    .description('select the events of a webhook of the service')
    .argument('<webhookId>')
    .addOption(eventOption())
    .option('--all', 'all events')
    .action(async (webhookId: string, { event, all }: { event?: EventType[]; all?: true }, command: Command) => {
      if ((event === undefined) === (all === undefined)) command.error('error: give --event, or --all')
      await changeService(command, webhookId, { events: event ?? [] })
    })
}

export function addDisable(webhooks: Command): void {
  webhooks
    .command('disable')
    .description('send no events to a webhook of the service, also not later')
    .argument('<webhookId>')
    .action((webhookId: string, _: unknown, command: Command) =>
      changeService(command, webhookId, { status: 'disabled' }),
    )
}

export function addEnable(webhooks: Command): void {
  webhooks
    .command('enable')
    .description('send events to a webhook of the service again, from now on')
    .argument('<webhookId>')
    .action((webhookId: string, _: unknown, command: Command) =>
      changeService(command, webhookId, { status: 'active' }),
    )
}

function eventOption(): Option {
  return new Option('--event <type>', 'only events of this type (repeatable)')
    .choices(selectableEventTypes)
    .argParser(collectEventType)
}

function collectEventType(value: string, before: EventType[] = []): EventType[] {
  const type = selectableEventTypes.find((each) => each === value)
  if (!type) throw new InvalidArgumentError(`Types of events are ${selectableEventTypes.join(', ')}.`)
  return [...before, type]
}

type Change = { url?: string; events?: EventType[]; status?: ServiceWebhook['status'] }

/** Changes a webhook of the service, and prints it. */
export async function changeService(command: Command, webhookId: string, body: Change): Promise<void> {
  const settings = settingsOf(command)
  const given = { params: { webhookId }, body }
  printService(settings, await call(settings, 'PATCH /api/admin/webhooks/:webhookId', given))
}

export function printService(settings: Settings, webhook: ServiceWebhook): void {
  if (settings.json) return printJson(webhook)
  printTable(rowsOf(webhook))
}

function rowsOf(webhook: ServiceWebhook): string[][] {
  const { webhookId, url, events, status, createdAt, updatedAt } = webhook
  return [
    ['Webhook', webhookId],
    ['URL', url],
    ['Events', events.join(', ') || 'all'],
    ['Status', status],
    ['Last answer', lastAnswerOf(webhook) || 'none yet'],
    ['Created', createdAt],
    ['Changed', updatedAt],
  ]
}

function lastAnswerOf({ lastAttempt }: ServiceWebhook): string {
  return `${lastAttempt?.status ?? lastAttempt?.reason ?? ''}`
}
