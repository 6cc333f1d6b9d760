import type { SigningKeyList } from '@countersign/protocol/oauth/token-keys'
import type { Command } from 'commander'
import { call } from './call.ts'
import { settingsOf } from './settings.ts'
import { printJson, printTable } from './terminal.ts'

export function addList(keys: Command): void {
  keys
    .command('list')
    .description('list the keys that sign tokens')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const answer = await call(settings, 'GET /api/admin/keys', {})
      if (settings.json) return printJson(answer)
      printTable(rowsOf(answer))
    })
}

/** Keys as rows under their headings. */
export function rowsOf({ keys }: SigningKeyList): string[][] {
  const rows = keys.map((key) => [key.kid, key.algorithm, key.state, key.signsAt, key.publishedUntil ?? ''])
  return [['Key ID', 'Algorithm', 'State', 'Signs from', 'Published until'], ...rows]
}
