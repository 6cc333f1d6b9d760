import type { App } from '@countersign/protocol/clients/apps'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addList(apps: Command): void {
  apps
    .command('list')
    .description('list the apps')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found: App[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await call(settings, 'GET /api/admin/apps', { querystring: cursor ? { cursor } : {} })
        found.push(...page.apps)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ apps: found })
      if (found.length === 0) return console.log('There is no app yet: countersign apps create')

      const rows = found.map((app) => [app.clientId, app.name, app.public ? 'public' : 'confidential', app.createdAt])
      printTable([['Client ID', 'Name', 'Kind', 'Created'], ...rows])
    })
}
