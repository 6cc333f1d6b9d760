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
      if (answer.resources.length === 0) return console.log(`None yet: countersign resources create ${clientId}`)

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

/** A resource as rows of a name and a value. */
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
