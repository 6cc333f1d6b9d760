import type { Command } from 'commander'
import { call } from './call.ts'
import { Cancelled } from './failure.ts'
import { settingsOf } from './settings.ts'
import { askConfirmation, mayAsk, printJson, printTable } from './terminal.ts'
import { rowsOf } from './list.ts'

type Options = { atOnce?: boolean; yes?: true }

const confirmation = 'Sign with new keys at once? Apps that do not read the key set anew refuse sign-ins for an hour.'

export function addRotate(keys: Command): void {
  keys
    .command('rotate')
    .description('publish new keys, which sign tokens after two hours')
    .option('--at-once', 'for an emergency: they sign as soon as every process knows them')
    .option('--yes', 'do not ask')
    .action(async ({ atOnce = false, yes }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (atOnce && !yes) {
        if (!mayAsk(settings)) command.error('error: --at-once needs --yes where nobody can be asked')
        if (!(await askConfirmation({ message: confirmation, initialValue: false }))) throw new Cancelled()
      }
      const answer = await call(settings, 'POST /api/admin/keys/rotate', { body: { atOnce } })
      if (settings.json) return printJson(answer)
      printTable(rowsOf(answer))
    })
}
