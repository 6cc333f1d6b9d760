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
      const answer = await call(settings, 'GET /api/admin/apps', {})
      if (settings.json) return printJson(answer)
      if (answer.apps.length === 0) return console.log('There is no app yet: countersign apps create')

      const rows = answer.apps.map((app) => [
        app.clientId,
        app.name,
        app.public ? 'public' : 'confidential',
        app.createdAt,
      ])
      printTable([['Client ID', 'Name', 'Kind', 'Created'], ...rows])
    })
}
