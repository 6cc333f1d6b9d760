import type { ConfigurationChange } from '@countersign/protocol/operations/configuration'
import type { Command } from 'commander'
import { limits } from '@countersign/protocol/formats/limits'
import { ApiError, call } from '../call.ts'
import { parseCount } from '../people/identity.ts'
import { settingsOf } from '../settings.ts'
import { CancelledError, isInteractive, printJson, promptConfirmation, stripControlCharacters } from '../terminal.ts'
import { type Origin, readConfiguration } from './file.ts'

type Options = { file: string; dryRun?: true; yes?: true; prune?: true; adopt?: true; confirm?: number }
type Plan = { changes: ConfigurationChange[]; digest: string }

/** The server mails invitations before it answers. */
const timeoutSeconds = 180

/** `countersign apply`: shows what a file changes, and changes it. */
export function addApply(program: Command): void {
  program
    .command('apply')
    .description('apply a file of the configuration: settings, groups, apps, sinks …')
    .requiredOption('-f, --file <path>', 'YAML or JSON; - for standard input')
    .option('--dry-run', 'only show the changes')
    .option('--prune', 'delete what this source manages and the file does not name')
    .option('--adopt', 'manage objects made by hand or by another source from now on')
    .option('--confirm <count>', 'number of objects to delete, if there are more than five', parseCount)
    .option('--yes', 'skip the confirmation')
    .action(async ({ file, dryRun, yes, confirm, ...options }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (!dryRun && !yes && !isInteractive(settings))
        command.error('error: --yes or --dry-run is required without a terminal')
      const { document, origins } = await readConfiguration(file, settings)
      const name = 'POST /api/admin/apply'
      const plan = await call(settings, name, { body: { document, dryRun: true, ...options } }, { timeoutSeconds })
      const count = plan.changes.filter(({ action }) => action !== 'none').length
      if (!settings.json) printPlan(plan, origins)
      if (dryRun || count === 0) return settings.json ? printJson(plan) : undefined
      const deleted = plan.changes.filter(({ action }) => action === 'delete').length
      if (!yes && !(await promptConfirmation({ message: questionOf(count, deleted), initialValue: false })))
        throw new CancelledError()
      const confirmed = yes ? confirm : deleted
      if (deleted > limits.unconfirmedDeletionsMax && confirmed !== deleted) throw needsConfirmation(deleted)
      const body = { document, dryRun: false, digest: plan.digest, ...options }
      const given = { body: { ...body, ...(confirmed !== undefined && { confirm: confirmed }) } }
      const done = await call(settings, name, given, { timeoutSeconds })
      if (settings.json) return printJson(done)
      console.log(`Applied: ${countOf(count)}.`)
    })
}

/** The error that the server would answer, with the option that confirms. */
function needsConfirmation(deleted: number): ApiError {
  const text = `This deletes ${deleted} objects. To confirm it, add --confirm ${deleted}.`
  return new ApiError(409, 'confirmation_required', text)
}

function questionOf(count: number, deleted: number): string {
  return `Make ${countOf(count)}?${deleted > 0 ? ` ${deleted} of them delete.` : ''}`
}

function countOf(count: number): string {
  return count === 1 ? '1 change' : `${count} changes`
}

const signs = { create: '+', update: '~', delete: '-', adopt: '>', none: ' ' } as const

/** Prints each change with its fields, and of secrets where they are from. Objects that stay are only counted. */
function printPlan({ changes }: Plan, origins: Origin[]): void {
  for (const { object, action, fields } of changes) {
    if (action === 'none') continue
    console.log(stripControlCharacters(`${signs[action]} ${action} ${object}`))
    for (const field of fields) {
      console.log(stripControlCharacters(`    ${lineOf(field)}`))
      for (const origin of originsOf(origins, object, field)) console.log(stripControlCharacters(`      ${origin}`))
    }
  }
  const same = changes.filter(({ action }) => action === 'none').length
  if (same === changes.length) console.log('Nothing to change.')
  else if (same > 0) console.log(`${same} unchanged`)
}

/** Says where the secrets of a field are from: a plan that hides them shows what a file takes from this machine. */
function originsOf(
  origins: Origin[],
  object: string,
  { path: field }: ConfigurationChange['fields'][number],
): string[] {
  const ofField = origins.filter((each) => each.object === object && `${each.path}.`.startsWith(`${field}.`))
  return ofField.map(({ path, from }) => (path === field ? `from ${from}` : `${path} from ${from}`))
}

function lineOf({ path, from, to }: ConfigurationChange['fields'][number]): string {
  if (from === null && to === null) return `${path}: changed`
  return from === null ? `${path}: ${JSON.stringify(to)}` : `${path}: ${JSON.stringify(from)} -> ${JSON.stringify(to)}`
}
