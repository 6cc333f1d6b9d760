import type { ClaimMapping, ClaimMappings, ClaimPlace } from '@countersign/protocol/clients/claims'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { call } from '../../call.ts'
import { findIdentityId } from '../../people/identity.ts'
import { settingsOf, type Settings } from '../../settings.ts'
import { CliError, printJson, printTable } from '../../terminal.ts'
import { collect } from '../../options/values.ts'

type Options = {
  source: string
  scope?: ClaimMapping['scope']
  in?: ClaimMapping['in']
  as?: ClaimMapping['as']
  first?: string[]
  map?: Record<string, string>
  default?: string
}

export function addShow(claims: Command): void {
  claims
    .command('show')
    .description('show the mapped claims of an app')
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      print(settings, await read(settings, clientId))
    })
}

export function addSet(claims: Command): void {
  claims
    .command('set')
    .description('define a claim of an app, made of groups, roles or a fixed text; replaces the one with its name')
    .argument('<clientId>')
    .argument('<claim>', 'its name')
    .requiredOption('--source <source>', 'groups, roles, or literal:<text>')
    .addOption(
      new Option('--scope <scope>', 'scope that gives it; by default groups, roles, or openid for a text').choices([
        ...['openid', 'profile', 'email', 'groups', 'roles'],
      ]),
    )
    .option('--in <place>', 'id_token, userinfo or access_token (repeatable); the first two by default', collectPlace)
    .addOption(new Option('--as <form>', 'one value, or all of them').choices(['string', 'array']))
    .option('--first <key>', 'group or role that a string prefers, in order (repeatable)', collect)
    .option('--map <key=value>', 'value for a group or role (repeatable); others are left out', collectEntry)
    .option('--default <text>', 'value if the user has none of them')
    .action(async (clientId: string, claim: string, options: Options, command: Command) => {
      const settings = settingsOf(command)
      const { source, default: otherwise, scope = scopeOf(source), ...more } = options
      const defined = { claim, source, scope, ...more, ...(otherwise !== undefined && { default: otherwise }) }
      const { claims: before } = await read(settings, clientId)
      const isPresent = before.some((each) => each.claim === claim)
      const after = isPresent ? before.map((each) => (each.claim === claim ? defined : each)) : [...before, defined]
      const sent = { params: { clientId }, body: { claims: after } }
      print(settings, await call(settings, 'PUT /api/admin/apps/:clientId/claims', sent))
    })
}

export function addRemove(claims: Command): void {
  claims
    .command('remove')
    .description('remove a mapped claim from an app')
    .argument('<clientId>')
    .argument('<claim>')
    .action(async (clientId: string, claim: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const { claims: before } = await read(settings, clientId)
      const left = before.filter((each) => each.claim !== claim)
      if (left.length === before.length) throw new CliError(`the app has no claim ${claim}`)
      const sent = { params: { clientId }, body: { claims: left } }
      print(settings, await call(settings, 'PUT /api/admin/apps/:clientId/claims', sent))
    })
}

export function addPreview(claims: Command): void {
  claims
    .command('preview')
    .description('show what an app learns about an identity')
    .argument('<clientId>')
    .argument('<identity>', 'username or identity ID')
    .option('--scope <scopes>', 'scopes that the app requests; all that it may by default')
    .action(async (clientId: string, identity: string, { scope }: { scope?: string }, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, identity)
      const sent = { params: { clientId }, body: { identityId, ...(scope !== undefined && { scope }) } }
      const shown = await call(settings, 'POST /api/admin/apps/:clientId/claims/preview', sent)
      if (settings.json) return printJson(shown)
      const { idToken, userinfo, accessToken, bytes } = shown
      printTable([
        ['Scope', shown.scope],
        ['Access to the app', shown.hasAccess ? 'yes' : 'no'],
        ...(shown.omitted.length > 0 ? [['Left out', shown.omitted.join(' ')]] : []),
      ])
      for (const [place, claimed, size] of [
        ['ID token', idToken, bytes.idToken],
        ['Userinfo', userinfo, bytes.userinfo],
        ['Access token', accessToken, bytes.accessToken],
      ] as const)
        console.log(
          `\n${place} (${size} bytes of groups, roles and mapped claims)\n${JSON.stringify(claimed, null, 2)}`,
        )
    })
}

function read(settings: Settings, clientId: string): Promise<ClaimMappings> {
  return call(settings, 'GET /api/admin/apps/:clientId/claims', { params: { clientId } })
}

function scopeOf(source: string): ClaimMapping['scope'] {
  return source === 'groups' || source === 'roles' ? source : 'openid'
}

const places: readonly ClaimPlace[] = ['id_token', 'userinfo', 'access_token']

function collectPlace(given: string, before: ClaimPlace[] = []): ClaimPlace[] {
  const place = places.find((each) => each === given)
  if (!place) throw new InvalidArgumentError(`Must be one of ${places.join(', ')}.`)
  return [...before, place]
}

function collectEntry(given: string, before: Record<string, string> = {}): Record<string, string> {
  const [, key, value] = /^([^=]+)=([^]+)$/.exec(given) ?? []
  if (key === undefined || value === undefined) throw new InvalidArgumentError('Must be a key, = and a value.')
  return { ...before, [key]: value }
}

function print(settings: Settings, { claims }: ClaimMappings): void {
  if (settings.json) return printJson({ claims })
  if (claims.length === 0) return console.log('No mapped claims yet: countersign apps claims set')
  const rows = claims.map((each) => [
    ...[each.claim, each.source, each.scope, each.in.join(' '), each.as, each.first?.join(' ') ?? ''],
    Object.entries(each.map ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
    each.default ?? '',
  ])
  printTable([['Claim', 'Source', 'Scope', 'In', 'As', 'First', 'Map', 'Default'], ...rows])
}
