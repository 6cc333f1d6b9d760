import { readFileSync } from 'node:fs'
import { styleText } from 'node:util'
import type { Sink } from '@countersign/protocol/operations/sinks'
import { type Command, Option } from 'commander'
import { call } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CancelledError, CliError, isInteractive, printJson, printTable, promptConfirmation } from '../terminal.ts'
import { toSeconds } from '../apps/options.ts'
import { collect, parsePlaceBefore } from '../options/values.ts'

type Given = { url?: string; header?: string[]; ca?: string; action?: string[] }
type Added = Given & { kind: 'http' | 'syslog' }

export function addList(sinks: Command): void {
  sinks
    .command('list')
    .description('list the receivers of the audit log')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/sinks', {})
      if (settings.json) return printJson(answer)
      if (answer.sinks.length === 0) return console.log('None yet.')
      const rows = answer.sinks.map(({ key, kind, url, status, lag, lastError }) => {
        return [key, kind, url, status, String(lag), lastError ?? '']
      })
      printTable([['Key', 'Kind', 'URL', 'Status', 'Lag', 'Last error'], ...rows])
    })
}

/** Adds the options that `add` and `set` share. */
function addFields(command: Command): Command {
  return command
    .option('--header <name: value>', 'header of requests (repeatable): Authorization, or X-…', collect)
    .option('--ca <file>', 'PEM file with the authorities that sign the certificate of the receiver')
    .option('--action <action>', 'only this action, or those below it (repeatable)', collect)
}

export function addAdd(sinks: Command): void {
  const add = sinks.command('add').description('add a receiver; prints the secret of kind http once')
  addFields(add.argument('<key>').argument('<url>'))
    .addOption(new Option('--kind <kind>', 'http or syslog').choices(['http', 'syslog']).makeOptionMandatory())
    .action(async (key: string, url: string, { kind, ...given }: Added, command: Command) => {
      const settings = settingsOf(command)
      const body = { key, kind, url, ...fieldsOf(given) }
      const answer = await call(settings, 'POST /api/admin/sinks', { body })
      if (settings.json) return printJson(answer)
      printTable([...rowsOf(answer.sink), ...(answer.secret === null ? [] : [['Secret', answer.secret]])])
      if (answer.secret !== null)
        console.log(styleText('yellow', '\nStore the secret now. It will not be shown again.'))
    })
}

export function addShow(sinks: Command): void {
  onSink(sinks, 'show', 'show a receiver').action(async (key: string, _: unknown, command: Command) => {
    const settings = settingsOf(command)
    print(settings, await findSink(settings, key))
  })
}

export function addSet(sinks: Command): void {
  const set = onSink(sinks, 'set', 'change a receiver; another host without --header removes the headers')
  addFields(set.option('--url <url>', 'where it is'))
    .option('--all-actions', 'select all actions')
    .option('--public-ca', 'accept certificates of public authorities again')
    .option('--no-headers', 'remove all headers')
    .action(async (key: string, given: Given & Removed, command: Command) => {
      await change(command, key, {
        ...(given.url !== undefined && { url: given.url }),
        ...fieldsOf(given),
        ...(given.allActions && { actions: [] }),
        ...(given.publicCa && { caPem: null }),
        ...(!given.headers && { headers: {} }),
      })
    })
}

type Removed = { allActions?: true; publicCa?: true; headers: boolean }

export function addPause(sinks: Command): void {
  onSink(sinks, 'pause', 'send nothing until it is resumed').action((key: string, _: unknown, command: Command) =>
    change(command, key, { status: 'paused' }),
  )
}

export function addResume(sinks: Command): void {
  onSink(sinks, 'resume', 'send again, from where it was paused').action((key: string, _: unknown, command: Command) =>
    change(command, key, { status: 'enabled' }),
  )
}

export function addTest(sinks: Command): void {
  onSink(sinks, 'test', 'send one event at once').action(async (key: string, _: unknown, command: Command) => {
    const settings = settingsOf(command)
    const { sinkId } = await findSink(settings, key)
    const answer = await call(settings, 'POST /api/admin/sinks/:sinkId/test', { params: { sinkId } })
    if (answer.error !== null) throw new CliError(`the event was not delivered: ${answer.error}`)
    if (settings.json) return printJson(answer)
    console.log('The event was delivered.')
  })
}

export function addReplay(sinks: Command): void {
  onSink(sinks, 'replay', 'send the events after a place again')
    .requiredOption('--after <place>', 'number of an event; 0 for all', parsePlaceBefore)
    .action(async (key: string, { after }: { after: number }, command: Command) => {
      const settings = settingsOf(command)
      const { sinkId } = await findSink(settings, key)
      const given = { params: { sinkId }, body: { cursor: after } }
      print(settings, await call(settings, 'PUT /api/admin/sinks/:sinkId/cursor', given))
    })
}

export function addRotateSecret(sinks: Command): void {
  onSink(sinks, 'rotate-secret', 'replace the secret of a receiver of kind http; prints the new one once')
    .option('--grace <seconds>', 'how long the old secret also signs (at most 604800); default: not at all', toSeconds)
    .action(async (key: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const { sinkId } = await findSink(settings, key)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const answer = await call(settings, 'POST /api/admin/sinks/:sinkId/secret', { params: { sinkId }, body })
      if (settings.json) return printJson(answer)
      printTable([
        ['Secret', answer.secret],
        ['The old secret also signs', grace === undefined ? 'no longer' : `until ${answer.previousUntil}`],
      ])
      console.log(styleText('yellow', '\nStore the secret now. It will not be shown again.'))
    })
}

export function addRemove(sinks: Command): void {
  onSink(sinks, 'remove', 'remove a receiver')
    .option('--yes', 'skip the confirmation')
    .action(async (key: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')
      const { sinkId } = await findSink(settings, key)
      const message = `Remove ${key}? It gets no further events.`
      if (!yes && !(await promptConfirmation({ message, initialValue: false }))) throw new CancelledError()
      await call(settings, 'DELETE /api/admin/sinks/:sinkId', { params: { sinkId } })
      if (settings.json) return printJson({ sinkId, removed: true })
      console.log(`${key} was removed.`)
    })
}

function onSink(sinks: Command, name: string, description: string): Command {
  return sinks.command(name).description(description).argument('<key>')
}

type Change = { url?: string; status?: Sink['status']; caPem?: string | null } & Pick<
  ReturnType<typeof fieldsOf>,
  'headers' | 'actions'
>

async function change(command: Command, key: string, body: Change): Promise<void> {
  const settings = settingsOf(command)
  if (Object.keys(body).length === 0) command.error('error: name what to change (see --help)')
  const { sinkId } = await findSink(settings, key)
  print(settings, await call(settings, 'PATCH /api/admin/sinks/:sinkId', { params: { sinkId }, body }))
}

async function findSink(settings: Settings, key: string): Promise<Sink> {
  const { sinks } = await call(settings, 'GET /api/admin/sinks', {})
  const found = sinks.find((sink) => sink.key === key || sink.sinkId === key)
  if (!found) throw new CliError(`no sink has the key ${key}`)
  return found
}

function print(settings: Settings, sink: Sink): void {
  if (settings.json) return printJson(sink)
  printTable(rowsOf(sink))
}

function rowsOf(sink: Sink): string[][] {
  return [
    ['Key', sink.key],
    ['Kind', sink.kind],
    ['URL', sink.url],
    ['Headers', sink.headerNames.join(', ') || 'none'],
    ['Authorities', sink.caPem === null ? 'public' : 'its own'],
    ['Actions', sink.actions.join(', ') || 'all'],
    ['Status', sink.status],
    ['Cursor', String(sink.cursor)],
    ['Lag', String(sink.lag)],
    ['Last error', sink.lastError ?? 'none'],
    ['Delivered', sink.lastDeliveredAt ?? 'never'],
  ]
}

function fieldsOf({ header, ca, action }: Given): {
  headers?: Record<string, string>
  caPem?: string
  actions?: string[]
} {
  return {
    ...(header && { headers: Object.fromEntries(header.map(parseHeader)) }),
    ...(ca !== undefined && { caPem: readPem(ca) }),
    ...(action && { actions: action }),
  }
}

function parseHeader(text: string): [name: string, value: string] {
  const at = text.indexOf(':')
  if (at < 1) throw new CliError('a header must have the form "name: value"')
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}

function readPem(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new CliError(`cannot read ${file}`, { cause })
  }
}
