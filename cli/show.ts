import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { printJson, printTable } from './terminal.ts'

export function addShow(organizations: Command): void {
  organizations
    .command('show')
    .description('show an organization')
    .argument('<organizationId>')
    .action(async (organizationId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const path = { params: { organizationId } }
      const { organization } = await call(settings, 'GET /api/admin/organizations/:organizationId', path)
      if (settings.json) return printJson({ organization })
      printTable([
        ['ID', organization.organizationId],
        ['Name', organization.name],
        ['Slug', organization.slug],
        ['Status', organization.status],
        ['Members', String(organization.members)],
        ['Owners', String(organization.owners)],
        ['Sign-in required', organization.ssoRequired ? 'its own' : 'no'],
        ['Created', organization.createdAt],
      ])
    })
}
