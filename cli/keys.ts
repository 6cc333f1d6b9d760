import type { SigningKeyList } from '@countersign/protocol/oauth/token-keys'
import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { CancelledError, isInteractive, printJson, printTable, promptConfirmation } from './terminal.ts'

export function addList(keys: Command): void {
  keys
    .command('list')
    .description('list token-signing keys')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/keys', {})
      if (settings.json) return printJson(answer)
      printTable(rowsOf(answer))
    })
}

/** Formats keys as a table. */
function rowsOf({ keys }: SigningKeyList): string[][] {
  const rows = keys.map((key) => [key.kid, key.algorithm, key.state, key.activatesAt, key.publishedUntil ?? ''])
  return [['Key ID', 'Algorithm', 'State', 'Signs from', 'Published until'], ...rows]
}

type Options = { atOnce?: boolean; yes?: true }

const confirmation =
  'Activate the new keys immediately? Apps that do not refetch the key set reject sign-ins for an hour.'

export function addRotate(keys: Command): void {
  keys
    .command('rotate')
    .description('publish new keys, which sign tokens after two hours')
    .option('--at-once', 'activate immediately (emergency rotation)')
    .option('--yes', 'skip the confirmation')
    .action(async ({ atOnce = false, yes }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (atOnce && !yes) {
        if (!isInteractive(settings)) command.error('error: --at-once needs --yes without a terminal')
        if (!(await promptConfirmation({ message: confirmation, initialValue: false }))) throw new CancelledError()
      }
      const answer = await call(settings, 'POST /api/admin/keys/rotate', { body: { atOnce } })
      if (settings.json) return printJson(answer)
      printTable(rowsOf(answer))
    })
}
