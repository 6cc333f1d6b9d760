import type { AuditChainPlace, AuditChainState, AuditEvent } from '@countersign/protocol/operations/audit'
import { type Command, InvalidArgumentError } from 'commander'
import { call } from '../call.ts'
import { findIdentityId, parseCount } from '../people/identity.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CliError, printJson, printTable } from '../terminal.ts'

export type FilterOptions = { action?: string; identity?: string; app?: string; organization?: string }
type Options = FilterOptions & { from?: string; to?: string; limit: number }

const pageMax = 100

/** Adds the options that select events. */
export function addFilters(command: Command): Command {
  return command
    .option('--action <action>', 'only this action, or those below it, such as group.member')
    .option('--identity <identity>', 'only events of this identity, by username or ID')
    .option('--app <clientId>', 'only events of this app')
    .option('--organization <id>', 'only events of this organization')
}

/** Returns the parameters that select events. */
export async function filterOf(
  settings: Settings,
  { action, identity, app, organization }: FilterOptions,
): Promise<{ action?: string; identity?: string; clientId?: string; organizationId?: string }> {
  return {
    ...(action !== undefined && { action }),
    ...(identity !== undefined && { identity: await findIdentityId(settings, identity) }),
    ...(app !== undefined && { clientId: app }),
    ...(organization !== undefined && { organizationId: organization }),
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
      printTable([['Time', 'Action', 'By', 'Identity ID', 'App'], ...entries.map(rowOf)])
    })
}

function rowOf({ at, action, actor, operator, identityId, clientId }: AuditEvent): string[] {
  const by = operator?.kind === 'break_glass' ? 'ADMIN_TOKEN' : (operator?.name ?? actor)
  return [at, action, by, identityId ?? '', clientId ?? '']
}

type VerifyOptions = { from: number; known?: AuditChainPlace }

/** `countersign audit verify`: verifies the chain of the audit log, and names the first event that is not in order. */
export function addVerify(audit: Command): void {
  audit
    .command('verify')
    .description('verify that no event of the audit log was changed or removed')
    .option('--from <place>', 'first event to verify, by its number', parsePlace, 1)
    .option('--known <place:hash>', 'head that was printed before, which the log must contain', parseHead)
    .action(async ({ from, known }: VerifyOptions, command: Command) => {
      const settings = settingsOf(command)
      if (known) await requireKnown(settings, known)
      let [checked, erased] = [0, 0]
      let state: AuditChainState | undefined
      for (let next: string | null = String(from); next !== null;) {
        state = await call(settings, 'GET /api/admin/audit/verify', { querystring: { from: next, limit: '1000' } })
        checked += state.checked
        erased += state.erased
        if (state.broken) throw new CliError(`event ${state.broken.sequence} is not in order: ${state.broken.reason}`)
        next = state.next
      }
      const { head = null, last = null, checkpoint = null } = state ?? {}
      if (settings.json) return printJson({ checked, erased, head, checkpoint })
      const range = last && checked > 0 ? `, ${last.sequence - checked + 1} to ${last.sequence}` : ''
      console.log(`Verified ${checked} events${range}${erased > 0 ? `; details of ${erased} were erased` : ''}.`)
      if (head) console.log(`Head: ${writeHead(head)}`)
    })
}

/** Throws unless the log contains a head that was known before. */
async function requireKnown(settings: Settings, known: AuditChainPlace): Promise<void> {
  const querystring = { from: String(known.sequence), limit: '1' }
  const { last, checkpoint } = await call(settings, 'GET /api/admin/audit/verify', { querystring })
  const found = [last, checkpoint].find((place) => place?.sequence === known.sequence)
  if (!found && checkpoint && known.sequence < checkpoint.sequence)
    throw new CliError(`event ${known.sequence} was deleted with all before ${checkpoint.sequence + 1}`)
  if (found?.hash !== known.hash) throw new CliError(`the log does not contain the head ${writeHead(known)}`)
}

function writeHead({ sequence, hash }: AuditChainPlace): string {
  return `${sequence}:${hash}`
}

function parsePlace(text: string): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new InvalidArgumentError('Give a number from 1.')
  return Number(text)
}

function parseHead(text: string): AuditChainPlace {
  const [, sequence = '', hash = ''] = /^([1-9][0-9]{0,14}):([A-Za-z0-9+/]{43}=)$/.exec(text) ?? []
  if (hash === '') throw new InvalidArgumentError('Give a head as it was printed: 41207:mXq0…=')
  return { sequence: Number(sequence), hash }
}
