import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

export function addApps(people: Command): void {
  people
    .command('apps')
    .description('list the apps that an identity has connected')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const { apps } = await call(settings, 'GET /api/admin/identities/:identityId/apps', { params })
      if (settings.json) return printJson({ apps })
      if (apps.length === 0) return console.log('None yet.')
      const rows = apps.map((app) => [app.clientId, app.appName, app.scope, app.createdAt, app.lastAuthorizedAt])
      printTable([['Client ID', 'Name', 'Scopes', 'Since', 'Last used'], ...rows])
    })
}
