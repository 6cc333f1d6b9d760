import type { AdminIdentity } from '@countersign/protocol/operations/people'
import { Option, type Command } from 'commander'
import { identityOrders, identityStatuses } from '@countersign/protocol/operations/people-search'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { listPages, parseCount } from './identity.ts'

type Options = {
  query?: string
  emailDomain?: string
  group?: string
  organization?: string
  status?: (typeof identityStatuses)[number]
  managedBy?: string
  createdFrom?: string
  createdTo?: string
  lastSeenFrom?: string
  lastSeenTo?: string
  sort?: (typeof identityOrders)[number]
  limit: number
}

export function addList(people: Command): void {
  people
    .command('list')
    .description('list or search identities')
    .option('--query <text>', 'beginnings of words of the username, e-mail address or name, or an identity ID')
    .option('--email-domain <domain>', 'only addresses of this domain')
    .option('--group <key>', 'only members of this group')
    .option('--organization <id>', 'only members of this organization')
    .addOption(new Option('--status <status>', 'only identities with this status').choices(identityStatuses))
    .option('--managed-by <source>', 'only those of this directory: scim: and the ID of its token; self: all others')
    .option('--created-from <instant>', 'created at or after, such as 2026-11-01T00:00:00Z')
    .option('--created-to <instant>', 'created before')
    .option('--last-seen-from <day>', 'last authorized an app on or after, such as 2026-11-01')
    .option('--last-seen-to <day>', 'last authorized an app on or before')
    .addOption(new Option('--sort <order>', 'order, without --query').choices(identityOrders))
    .option('--limit <count>', 'number of identities', parseCount, 100)
    .action(async ({ query, limit, ...filter }: Options, command: Command) => {
      const settings = settingsOf(command)
      let counted = { count: 0, countIs: 'exact' }
      const found = await listPages<AdminIdentity>(limit, async (page) => {
        const querystring = { ...(query !== undefined && { q: query }), ...filter, ...page }
        const answer = await call(settings, 'GET /api/admin/identities', { querystring })
        counted = { count: answer.count, countIs: answer.countIs }
        return { items: answer.identities, nextCursor: answer.nextCursor }
      })
      if (settings.json) return printJson({ identities: found, ...counted })
      if (found.length === 0) return console.log('None found.')
      const rows = found.map((identity) => [
        identity.identityId,
        `@${identity.handle}`,
        identity.displayName,
        identity.email ?? '',
        identity.status,
        identity.lastSeenOn ?? 'never',
      ])
      printTable([['ID', 'Username', 'Name', 'E-mail', 'Status', 'Last seen'], ...rows])
      const total = counted.countIs === 'exact' ? String(counted.count) : `at least ${counted.count}`
      if (found.length < counted.count) console.log(`\n${found.length} of ${total}. Use --limit for more.`)
    })
}
