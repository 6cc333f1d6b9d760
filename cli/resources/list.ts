import type { Resource } from '@countersign/protocol/clients/resources'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

export function addList(resources: Command): void {
  resources
    .command('list')
    .description('list the resources of an app')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/apps/:clientId/resources', { params: { clientId } })
      if (settings.json) return printJson(answer)
      if (answer.resources.length === 0)
        return console.log(`No resources yet: countersign resources create ${clientId}`)

      const rows = answer.resources.map(({ resourceKey, displayName, audience, status, scopes }) => [
        resourceKey,
        displayName,
        audience,
        status,
        scopes.join(' '),
      ])
      printTable([['Key', 'Name', 'Audience', 'Status', 'Scopes'], ...rows])
    })
}

/** Returns a resource as rows of name and value. */
export function fieldsOf(resource: Resource): string[][] {
  const { scopes, scopeDescriptions } = resource
  return [
    ['Key', resource.resourceKey],
    ['Name', resource.displayName],
    ['Description', resource.description ?? ''],
    ['Audience', resource.audience],
    ['Status', resource.status],
    ...scopes.map((scope) => ['Scope', `${scope} ${scopeDescriptions[scope] ?? ''}`.trimEnd()]),
  ]
}

export function addDisable(resources: Command): void {
  addStatus(resources, 'disable', 'disabled', 'disable a resource: no app gets a token for it until it is enabled')
}

export function addEnable(resources: Command): void {
  addStatus(resources, 'enable', 'active', 'enable a disabled resource again')
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
