import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { printJson, printTable } from './terminal.ts'

export function addList(organizations: Command): void {
  organizations
    .command('list')
    .description('list the organizations, the newest first')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found: AdminOrganization[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await call(settings, 'GET /api/admin/organizations', {
          querystring: { limit: '100', ...(cursor && { cursor }) },
        })
        found.push(...page.organizations)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ organizations: found })
      if (found.length === 0) return console.log('None yet.')
      const rows = found.map(({ organizationId, name, slug, status, members }) => [
        organizationId,
        name,
        slug,
        status,
        String(members),
      ])
      printTable([['ID', 'Name', 'Slug', 'Status', 'Members'], ...rows])
    })
}
