import type { Command } from 'commander'
import { saveExport } from '../files/saved-export.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

export function addExport(people: Command): void {
  people
    .command('export')
    .description('export the data of an identity; its user sees it in their activity')
    .argument('<identity>', 'username or identity ID')
    .requiredOption('--out <file>', 'file to create; it must not exist')
    .action(async (given: string, { out }: { out: string }, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      await saveExport(settings, `/api/admin/identities/${identityId}/export`, out)
      if (settings.json) return printJson({ file: out })
      console.log(`Export written to ${out}.`)
    })
}
