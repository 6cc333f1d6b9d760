import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { fieldsOf } from './list.ts'
import { addScopeOption, scopeFieldsOf, type Scope } from './scope-option.ts'

type Options = { name?: string; audience?: string; scope?: Scope[]; description?: string }

export function addChange(resources: Command): void {
  const change = resources
    .command('change')
    .description('change what is given of a resource, and leave the rest')
    .argument('<clientId>')
    .argument('<resourceKey>')
    .option('--name <name>', 'what people see when an app asks for it')
    .option('--audience <uri>', 'the aud of the tokens for it')
    .option('--description <text>', "one sentence about it; '' for none")
  addScopeOption(change, 'optional').action(
    async (clientId: string, resourceKey: string, options: Options, command: Command) => {
      const settings = settingsOf(command)
      const { name, audience, scope, description } = options
      const body = {
        ...(name !== undefined && { displayName: name }),
        ...(audience !== undefined && { audience }),
        ...(description !== undefined && { description: description === '' ? null : description }),
        ...(scope && scopeFieldsOf(scope)),
      }
      if (Object.keys(body).length === 0) command.error('error: say what to change; --help tells what may be')
      const params = { clientId, resourceKey }
      const resource = await call(settings, 'PATCH /api/admin/apps/:clientId/resources/:resourceKey', { params, body })
      if (settings.json) return printJson(resource)
      printTable(fieldsOf(resource))
    },
  )
}
