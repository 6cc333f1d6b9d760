import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { printJson } from './terminal.ts'

export function addSuspend(organizations: Command): void {
  addStatus(organizations, 'suspend', 'suspended', 'nobody acts in it, and its tokens are dead, until it is activated')
}

export function addActivate(organizations: Command): void {
  addStatus(organizations, 'activate', 'active', 'let its members act again in a suspended organization')
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
