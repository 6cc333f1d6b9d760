import type { AuditEvent } from '@countersign/protocol/operations/audit'
import { type Command, Option } from 'commander'
import { saveExport } from '../files/saved-export.ts'
import { call } from '../call.ts'
import { findIdentityId, parseCount } from '../people/identity.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export type FilterOptions = {
  action?: string
  by?: string
  identity?: string
  app?: string
  organization?: string
  result?: string
}
type Selection = {
  action?: string
  actor?: string
  identity?: string
  clientId?: string
  organizationId?: string
  result?: AuditEvent['result']
}
type Options = FilterOptions & { from?: string; to?: string; limit: number }
type ExportOptions = FilterOptions & { out: string; format: string; from?: string; to?: string }

const pageMax = 100

/** Kinds of actors. Others are usernames, or IDs of operators and tokens. */
const kinds = ['user', 'app', 'system', 'operator', 'token', 'scim', 'break_glass']

/** Adds the options that select events. */
export function addFilters(command: Command): Command {
  return command
    .option('--action <action>', 'only this action, or those below it, such as group.member')
    .option(
      '--by <actor>',
      'only events by user, app, system, operator, token, scim or break_glass, or by this operator',
    )
    .option('--identity <identity>', 'only events of this identity, by username or ID')
    .option('--app <clientId>', 'only events of this app')
    .option('--organization <id>', 'only events of this organization')
    .addOption(new Option('--result <result>', 'only events with this result').choices(['success', 'failure']))
}

/** Returns the parameters that select events. */
export async function filterOf(
  settings: Settings,
  { action, by, identity, app, organization, result }: FilterOptions,
): Promise<Selection> {
  return {
    ...(action !== undefined && { action }),
    ...(by !== undefined && { actor: kinds.includes(by) ? by : await findIdentityId(settings, by) }),
    ...(identity !== undefined && { identity: await findIdentityId(settings, identity) }),
    ...(app !== undefined && { clientId: app }),
    ...(organization !== undefined && { organizationId: organization }),
    ...((result === 'success' || result === 'failure') && { result }),
  }
}

/** `countersign audit list`: prints the newest events of the audit log. */
export function addList(audit: Command): void {
  addFilters(audit.command('list'))
    .description('list the audit log, newest first')
    .option('--from <instant>', 'at or after, such as 2026-11-01T00:00:00Z')
    .option('--to <instant>', 'before')
    .option('--limit <count>', 'number of events', parseCount, 50)
    .action(async ({ from, to, limit, ...options }: Options, command: Command) => {
      const settings = settingsOf(command)
      const filter = {
        ...(await filterOf(settings, options)),
        ...(from !== undefined && { from }),
        ...(to !== undefined && { to }),
      }
      const entries: AuditEvent[] = []
      // A page may be empty before the end.
      for (let cursor: string | null | undefined; cursor !== null && entries.length < limit;) {
        const size = String(Math.min(pageMax, limit - entries.length))
        const querystring = { ...filter, limit: size, ...(cursor !== undefined && { cursor }) }
        const page = await call(settings, 'GET /api/admin/audit', { querystring })
        entries.push(...page.entries)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ entries })
      if (entries.length === 0) return console.log('None found.')
      printTable([['Time', 'Action', 'By', 'Object', 'Identity ID', 'App', 'Result', 'Network'], ...entries.map(rowOf)])
    })
}

/** `countersign audit export`: writes all selected events to a file. */
export function addExport(audit: Command): void {
  addFilters(audit.command('export'))
    .description('export the audit log to a file, newest first')
    .requiredOption('--out <file>', 'file to create; it must not exist')
    .addOption(new Option('--format <format>', 'format of the file').choices(['csv', 'jsonl']).default('csv'))
    .option('--from <instant>', 'at or after, such as 2026-11-01T00:00:00Z')
    .option('--to <instant>', 'before')
    .action(async ({ out, format, from, to, ...options }: ExportOptions, command: Command) => {
      const settings = settingsOf(command)
      const query = new URLSearchParams({
        ...(await filterOf(settings, options)),
        ...{ format, ...(from !== undefined && { from }), ...(to !== undefined && { to }) },
      })
      await saveExport(settings, `/api/admin/audit/export?${query.toString()}`, out)
      if (settings.json) return printJson({ file: out })
      console.log(`Export written to ${out}.`)
    })
}

function rowOf({ at, action, actor, object, result, address, identityId, clientId }: AuditEvent): string[] {
  return [at, action, nameOfActor(actor), nameOfObject(object), identityId ?? '', clientId ?? '', result, address ?? '']
}

/** Returns who acted as text, with the kind: an app or a token can have any name. */
function nameOfActor({ kind, name }: AuditEvent['actor']): string {
  return kind === 'break_glass' ? 'ADMIN_TOKEN' : `${kind} ${name ?? ''}`.trim()
}

/** Returns what an action was done to as text: by name if there is one. */
function nameOfObject(object: AuditEvent['object']): string {
  return object ? `${object.kind} ${object.name ?? object.id}` : ''
}
