import { styleText } from 'node:util'
import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { limits } from '@countersign/protocol/formats/limits'
import { tokenPermissions } from '@countersign/protocol/formats/registries/permissions'
import { InvalidArgumentError, type Command } from 'commander'
import { call } from '../call.ts'
import { toSeconds } from '../apps/options.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'

type TokenPermission = (typeof tokenPermissions)[number]

export function addList(tokens: Command): void {
  tokens
    .command('list')
    .description('list the admin tokens, newest first')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/tokens', {})
      if (settings.json) return printJson(answer)
      if (answer.tokens.length === 0) return console.log('None yet: countersign tokens create')
      printTable([['ID', 'Name', 'Expires', 'Last used', 'Permissions'], ...answer.tokens.map(rowOf)])
    })
}

type Options = { name: string; permission: TokenPermission[]; network?: string[]; days: number }

export function addCreate(tokens: Command): void {
  tokens
    .command('create')
    .description('create an admin token; prints it once')
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption(
      '--permission <permissions>',
      `what it may do (repeatable), of: ${tokenPermissions.join(' ')}`,
      collectPermissions,
    )
    .option(
      '--network <networks>',
      'networks in which it is accepted, such as 192.0.2.0/24 (repeatable); default: all',
      collectNetworks,
    )
    .option(
      '--days <days>',
      `when it expires (at most ${limits.adminTokenDaysMax})`,
      toDays,
      limits.adminTokenDaysDefault,
    )
    .action(async ({ name, permission: permissions, network: networks, days }: Options, command: Command) => {
      const settings = settingsOf(command)
      const expiresAt = new Date(Date.now() + days * 86_400_000 - 60_000).toISOString()
      const body = { name, permissions, expiresAt, ...(networks && { networks }) }
      print(settings, await call(settings, 'POST /api/admin/tokens', { body }))
    })
}

export function addRotate(tokens: Command): void {
  tokens
    .command('rotate')
    .description('replace an admin token; prints the new one once')
    .argument('<tokenId>')
    .option('--grace <seconds>', 'how long the old one stays valid (at most 86400); default: not at all', toSeconds)
    .action(async (tokenId: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const sent = { params: { tokenId }, body }
      print(settings, await call(settings, 'POST /api/admin/tokens/:tokenId/rotate', sent))
    })
}

export function addRevoke(tokens: Command): void {
  tokens
    .command('revoke')
    .description('revoke an admin token')
    .argument('<tokenId>')
    .action(async (tokenId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      await call(settings, 'DELETE /api/admin/tokens/:tokenId', { params: { tokenId } })
      if (settings.json) return printJson({ tokenId, revoked: true })
      console.log(`${tokenId} was revoked.`)
    })
}

function print(settings: Settings, answer: NewAdminToken): void {
  if (settings.json) return printJson(answer)
  const { token, adminToken } = answer
  printTable([
    ['Token', token],
    ['ID', adminToken.tokenId],
    ['Name', adminToken.name],
    ['Permissions', adminToken.permissions.join(' ')],
    ['Networks', adminToken.networks.join(' ') || 'all'],
    ['Expires', adminToken.expiresAt],
    ...(adminToken.previousUntil === null ? [] : [['The old token is valid', `until ${adminToken.previousUntil}`]]),
  ])
  console.log(styleText('yellow', '\nStore the token now. It will not be shown again.'))
}

function rowOf({ tokenId, name, expiresAt, lastUsedAt, permissions }: AdminToken): string[] {
  return [tokenId, name, expiresAt, lastUsedAt ?? 'never', permissions.join(' ')]
}

function toWords(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}

function collectNetworks(list: string, before: string[] = []): string[] {
  return [...before, ...toWords(list)]
}

function collectPermissions(list: string, before: TokenPermission[] = []): TokenPermission[] {
  return [...new Set([...before, ...toWords(list).map(toPermission)])]
}

function toPermission(word: string): TokenPermission {
  const permission = tokenPermissions.find((each) => each === word)
  if (permission === undefined) throw new InvalidArgumentError(`${word} is not a permission of tokens.`)
  return permission
}

/** Parses a number of days in which a token expires. */
export function toDays(text: string): number {
  const days = Number(text)
  if (!/^[1-9]\d{0,2}$/.test(text) || days > limits.adminTokenDaysMax)
    throw new InvalidArgumentError(`It must be a number from 1 to ${limits.adminTokenDaysMax}.`)
  return days
}
