import type { AdminActivityEntry } from '@countersign/protocol/operations/people'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId, listPages, parseCount } from './identity.ts'

export function addActivity(people: Command): void {
  people
    .command('activity')
    .description('list what an identity did, newest first')
    .argument('<identity>', 'username or identity ID')
    .option('--limit <count>', 'number of events', parseCount, 50)
    .action(async (given: string, { limit }: { limit: number }, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const entries = await listPages<AdminActivityEntry>(limit, async (querystring) => {
        const page = { params, querystring }
        const answer = await call(settings, 'GET /api/admin/identities/:identityId/activity', page)
        return { items: answer.entries, nextCursor: answer.nextCursor }
      })
      if (settings.json) return printJson({ entries })
      if (entries.length === 0) return console.log('None yet.')
      const rows = entries.map(({ at, action, actor, appName, clientId }) => [
        at,
        action,
        actor,
        appName ?? clientId ?? '',
      ])
      printTable([['Time', 'Action', 'By', 'App'], ...rows])
    })
}
