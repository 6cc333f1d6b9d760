import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { addScopeOption, scopeFieldsOf, type Scope } from './scope-option.ts'
import { fieldsOf } from './list.ts'

type Options = { key: string; name: string; audience: string; scope: Scope[]; description?: string }

export function addCreate(resources: Command): void {
  const create = resources
    .command('create')
    .description('offer a resource of an app to other apps')
    .argument('<clientId>')
    .requiredOption('--key <key>', 'what it is asked for by; no other resource has it, and it stays')
    .requiredOption('--name <name>', 'what people see when an app asks for it')
    .requiredOption('--audience <uri>', 'the aud of the tokens for it')
    .option('--description <text>', 'one sentence about it')
  addScopeOption(create, 'required').action(async (clientId: string, options: Options, command: Command) => {
    const settings = settingsOf(command)
    const { key, name, audience, scope, description } = options
    const body = {
      resourceKey: key,
      displayName: name,
      audience,
      ...scopeFieldsOf(scope),
      ...(description !== undefined && { description }),
    }
    const resource = await call(settings, 'POST /api/admin/apps/:clientId/resources', { params: { clientId }, body })
    if (settings.json) return printJson(resource)
    printTable(fieldsOf(resource))
  })
}
