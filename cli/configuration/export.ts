import type { Command } from 'commander'
import { stringify } from 'yaml'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'

/** `countersign export`: prints the configuration as a file that can be applied. */
export function addExport(program: Command): void {
  program
    .command('export')
    .description('print the configuration as a file')
    .option('--source <name>', 'only what this source manages, by its keys')
    .action(async ({ source }: { source?: string }, command: Command) => {
      const settings = settingsOf(command)
      const querystring = source === undefined ? {} : { source }
      const document = await call(settings, 'GET /api/admin/export', { querystring })
      if (settings.json) return printJson(document)
      process.stdout.write(stringify(document, { version: '1.2', schema: 'core', aliasDuplicateObjects: false }))
    })
}
