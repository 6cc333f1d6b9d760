import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { fieldsOf } from './list.ts'

/** Parses a scope and its description for users, which can be empty. */
export type Scope = { scope: string; words: string }

/** Returns the option for the scopes of a resource, which is repeatable. */
function addScopeOption(command: Command, kind: 'required' | 'optional'): Command {
  const flag = '--scope <scope>'
  const about = "'events.read See your events': a scope and its description for users (repeatable)"
  return kind === 'required'
    ? command.requiredOption(flag, about, collectScopes)
    : command.option(flag, `${about}; replaces all scopes`, collectScopes)
}

/** Maps scopes to the format of the API. */
function scopeFieldsOf(given: Scope[]) {
  const described = given.filter(({ words }) => words !== '')
  return {
    scopes: given.map(({ scope }) => scope),
    scopeDescriptions: Object.fromEntries(described.map(({ scope, words }) => [scope, words])),
  }
}

function collectScopes(text: string, before: Scope[] = []): Scope[] {
  const [scope = '', ...words] = text.trim().split(/ +/)
  return [...before, { scope, words: words.join(' ') }]
}

type Options = { name?: string; audience?: string; scope?: Scope[]; description?: string }

export function addChange(resources: Command): void {
  const change = resources
    .command('change')
    .description('change the given settings of a resource, and keep the others')
    .argument('<clientId>')
    .argument('<resourceKey>')
    .option('--name <name>', 'name that users see when an app requests access')
    .option('--audience <uri>', 'audience (aud) of its tokens')
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
      if (Object.keys(body).length === 0) command.error('error: no change given; --help lists the options')
      const params = { clientId, resourceKey }
      const resource = await call(settings, 'PATCH /api/admin/apps/:clientId/resources/:resourceKey', { params, body })
      if (settings.json) return printJson(resource)
      printTable(fieldsOf(resource))
    },
  )
}

type CreateOptions = { key: string; name: string; audience: string; scope: Scope[]; description?: string }

export function addCreate(resources: Command): void {
  const create = resources
    .command('create')
    .description('offer a resource of an app to other apps')
    .argument('<clientId>')
    .requiredOption('--key <key>', 'unique key of the resource, which cannot change')
    .requiredOption('--name <name>', 'name that users see when an app requests access')
    .requiredOption('--audience <uri>', 'audience (aud) of its tokens')
    .option('--description <text>', 'one sentence about it')
  addScopeOption(create, 'required').action(async (clientId: string, options: CreateOptions, command: Command) => {
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
