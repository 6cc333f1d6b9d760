import type { AdminOrganization } from '@countersign/protocol/organizations/operator-view'
import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { printJson, printTable } from './terminal.ts'

export function addList(organizations: Command): void {
  organizations
    .command('list')
    .description('list organizations, newest first')
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

export function addSuspend(organizations: Command): void {
  addStatus(
    organizations,
    'suspend',
    'suspended',
    'suspend an organization: members and tokens have no access until it is activated',
  )
}

export function addActivate(organizations: Command): void {
  addStatus(organizations, 'activate', 'active', 'activate a suspended organization')
}

function addStatus(organizations: Command, name: string, status: 'active' | 'suspended', description: string): void {
  organizations
    .command(name)
    .description(description)
    .argument('<organizationId>')
    .action(async (organizationId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const sent = { params: { organizationId }, body: { status } }
      const { organization } = await call(settings, 'PATCH /api/admin/organizations/:organizationId', sent)
      if (settings.json) return printJson({ organization })
      console.log(`${organization.name} is ${organization.status}.`)
    })
}
