import { styleText } from 'node:util'
import type { NewScimToken } from '@countersign/protocol/operations/scim-tokens'
import { limits } from '@countersign/protocol/formats/limits'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { CancelledError, isInteractive, printJson, printTable, promptConfirmation } from '../terminal.ts'
import { toDays } from './tokens.ts'

export function addList(tokens: Command): void {
  tokens
    .command('list')
    .description('list the SCIM tokens, newest first')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/scim-tokens', {})
      if (settings.json) return printJson(answer)
      if (answer.tokens.length === 0) return console.log('None yet: countersign scim-tokens create')
      const rows = answer.tokens.map(({ tokenId, name, expiresAt, lastUsedAt }) => {
        return [tokenId, name, expiresAt, lastUsedAt ?? 'never']
      })
      printTable([['ID', 'Name', 'Expires', 'Last used'], ...rows])
    })
}

export function addCreate(tokens: Command): void {
  tokens
    .command('create')
    .description('create a SCIM token for a directory; prints it once')
    .requiredOption('--name <name>', 'the directory that uses it')
    .option('--days <days>', `when it expires (at most ${limits.scimTokenDaysMax})`, toDays, limits.scimTokenDaysMax)
    .action(async ({ name, days }: { name: string; days: number }, command: Command) => {
      const settings = settingsOf(command)
      const expiresAt = new Date(Date.now() + days * 86_400_000 - 60_000).toISOString()
      print(settings, await call(settings, 'POST /api/admin/scim-tokens', { body: { name, expiresAt } }))
    })
}

export function addRotate(tokens: Command): void {
  tokens
    .command('rotate')
    .description('replace a SCIM token; prints the new one once')
    .argument('<tokenId>')
    .action(async (tokenId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      print(settings, await call(settings, 'POST /api/admin/scim-tokens/:tokenId/rotate', { params: { tokenId } }))
    })
}

export function addDelete(tokens: Command): void {
  tokens
    .command('delete')
    .description('delete a SCIM token; its users and groups stay')
    .argument('<tokenId>')
    .option('--yes', 'skip the confirmation')
    .action(async (tokenId: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')
      if (!yes && !(await promptConfirmation({ message: deletion, initialValue: false }))) throw new CancelledError()
      await call(settings, 'DELETE /api/admin/scim-tokens/:tokenId', { params: { tokenId } })
      if (settings.json) return printJson({ tokenId, deleted: true })
      console.log(`${tokenId} was deleted.`)
    })
}

const deletion = 'Delete the token? No other token can manage its users and groups. To replace it, rotate it.'

function print(settings: Settings, answer: NewScimToken): void {
  if (settings.json) return printJson(answer)
  const { token, url, scimToken } = answer
  printTable([
    ['URL', url],
    ['Token', token],
    ['ID', scimToken.tokenId],
    ['Name', scimToken.name],
    ['Expires', scimToken.expiresAt],
  ])
  console.log(styleText('yellow', '\nStore the token now. It will not be shown again.'))
}
