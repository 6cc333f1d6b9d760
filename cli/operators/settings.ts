import { readFile } from 'node:fs/promises'
import {
  isSettingKey,
  type Setting,
  type SettingChanges,
  type SettingRevision,
  type SettingValue,
  type Settings as ServerSettings,
} from '@countersign/protocol/operations/settings'
import type { Command } from 'commander'
import { call, sendFile } from '../call.ts'
import { listPages, parseCount } from '../people/identity.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { CliError, printJson, printTable } from '../terminal.ts'

/** `countersign settings get`: prints all settings, or the value of one. */
export function addGet(group: Command): void {
  group
    .command('get')
    .description('list the settings, or print the value of one')
    .argument('[key]')
    .action(async (key: string | undefined, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found = await call(settings, 'GET /api/admin/settings', {})
      const chosen = key === undefined ? found : find(found, key)
      if (settings.json) return printJson(chosen)
      if (key !== undefined) return console.log(textOf(find(found, key).value))
      printSettings(found)
    })
}

/** `countersign settings set`: changes one setting or several at once. */
export function addSet(group: Command): void {
  group
    .command('set')
    .description('change settings; an empty value restores the default, commas separate domains')
    .argument('<key=value...>')
    .action(async (pairs: string[], _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const changes: Record<string, SettingValue> = Object.fromEntries(pairs.map(parsePair))
      if (!hasKnownKeys(changes)) throw new CliError('no setting has this key: countersign settings get lists them')
      const headers = await ifMatch(settings)
      const changed = await call(settings, 'PATCH /api/admin/settings', { headers, body: { settings: changes } })
      print(settings, changed)
    })
}

/** `countersign settings logo`: uploads the logo of the service. */
export function addLogo(group: Command): void {
  group
    .command('logo')
    .description('upload the logo; settings set branding.logo= removes it')
    .argument('<file>', 'a PNG, JPEG or WebP file of at most 2 MiB')
    .action(async (file: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const body = await readFile(file).catch((cause: Error) => {
        throw new CliError(`${file} cannot be read (${cause.message})`, { cause })
      })
      const headers = await ifMatch(settings)
      const content = { body, type: 'application/octet-stream' }
      print(settings, await sendFile(settings, 'PUT /api/admin/settings/logo', { headers }, content))
    })
}

/** `countersign settings history`: prints who changed what. */
export function addHistory(group: Command): void {
  group
    .command('history')
    .description('list the changes of the settings, newest first')
    .option('--limit <count>', 'number of changes', parseCount, 50)
    .action(async ({ limit }: { limit: number }, command: Command) => {
      const settings = settingsOf(command)
      const revisions = await listPages<SettingRevision>(limit, async (querystring) => {
        const answer = await call(settings, 'GET /api/admin/settings/revisions', { querystring })
        return { items: answer.revisions, nextCursor: answer.nextCursor }
      })
      if (settings.json) return printJson({ revisions })
      if (revisions.length === 0) return console.log('None yet.')
      const rows = revisions.map(({ revision, at, operator, changed }) => [
        String(revision),
        at,
        operator.name ?? (operator.kind === 'break_glass' ? 'ADMIN_TOKEN' : (operator.id ?? '')),
        changed.join(', '),
      ])
      printTable([['Revision', 'Time', 'By', 'Changed'], ...rows])
    })
}

/** `countersign settings restore`: restores the settings of a revision. */
export function addRestore(group: Command): void {
  group
    .command('restore')
    .description('restore the settings of a revision, as a new one')
    .argument('<revision>')
    .action(async (revision: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const given = { params: { revision }, headers: await ifMatch(settings) }
      print(settings, await call(settings, 'POST /api/admin/settings/revisions/:revision/restore', given))
    })
}

/** Returns a value as `set` takes it: a list in one text. */
function textOf(value: SettingValue): string {
  return Array.isArray(value) ? value.join(',') : String(value ?? '')
}

function find({ settings }: ServerSettings, key: string): Setting {
  const setting = Object.hasOwn(settings, key) ? settings[key] : undefined
  if (!setting) throw new CliError(`no setting has the key ${key}`)
  return setting
}

/** Checks the keys. The server checks the values. */
function hasKnownKeys(changes: Record<string, SettingValue>): changes is Record<string, SettingValue> & SettingChanges {
  return Object.keys(changes).every(isSettingKey)
}

function parsePair(pair: string): [key: string, value: SettingValue] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? []
  if (key === undefined) throw new CliError(`${pair} must have the form key=value`)
  return [key, value ? parseValue(key, value) : null]
}

/** Parses a value as the server takes it. One that it would refuse stays as it is written. */
function parseValue(key: string, value: string): SettingValue {
  if (key === 'registration.domains') return value.split(',').map((each) => each.trim())
  return key === 'audit.retentionDays' && /^\d{1,9}$/.test(value) ? Number(value) : value
}

/** Names the revision that applies now. A change by another operator meanwhile makes the command fail. */
async function ifMatch(settings: Settings) {
  const { revision } = await call(settings, 'GET /api/admin/settings', {})
  return { 'if-match': `"${revision}"` }
}

function print(settings: Settings, changed: ServerSettings): void {
  if (settings.json) return printJson(changed)
  console.log(`Revision ${changed.revision} applies.`)
}

function printSettings({ settings }: ServerSettings): void {
  const rows = Object.entries(settings).map(([key, { value, source }]) => [key, textOf(value), source])
  printTable([['Setting', 'Value', 'From'], ...rows])
}
