import type { Command } from 'commander'
import { call } from '../call.ts'
import { Cancelled } from '../failure.ts'
import { settingsOf } from '../settings.ts'
import { askConfirmation, mayAsk, printJson, withoutControls } from '../terminal.ts'

export function addDelete(apps: Command): void {
  apps
    .command('delete')
    .description('delete an app, with every token it holds')
    .argument('<clientId>')
    .option('--yes', 'do not ask')
    .action(async (clientId: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !mayAsk(settings)) command.error('error: --yes is required where nobody can be asked')

      const params = { clientId }
      if (!yes) {
        const { name } = await call(settings, 'GET /api/admin/apps/:clientId', { params })
        const message = `Delete ${withoutControls(name)}? Everyone is signed out of it at once.`
        if (!(await askConfirmation({ message, initialValue: false }))) throw new Cancelled()
      }
      await call(settings, 'DELETE /api/admin/apps/:clientId', { params })
      if (settings.json) return printJson({ clientId, deleted: true })
      console.log(`${clientId} is deleted.`)
    })
}
