import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'

export function addDisable(resources: Command): void {
  addStatus(resources, 'disable', 'disabled', 'no app gets a token for it, until it is enabled')
}

export function addEnable(resources: Command): void {
  addStatus(resources, 'enable', 'active', 'let apps ask for a disabled resource again')
}

function addStatus(resources: Command, name: string, status: 'active' | 'disabled', description: string): void {
  resources
    .command(name)
    .description(description)
    .argument('<clientId>')
    .argument('<resourceKey>')
    .action(async (clientId: string, resourceKey: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const given = { params: { clientId, resourceKey }, body: { status } }
      const resource = await call(settings, 'PATCH /api/admin/apps/:clientId/resources/:resourceKey', given)
      if (settings.json) return printJson(resource)
      console.log(`${resourceKey} is ${resource.status}.`)
    })
}
