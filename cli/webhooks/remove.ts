import type { Command } from 'commander'
import { call } from '../call.ts'
import { Cancelled } from '../failure.ts'
import { settingsOf } from '../settings.ts'
import { askConfirmation, mayAsk, printJson } from '../terminal.ts'

export function addRemove(webhooks: Command): void {
  webhooks
    .command('remove')
    .description('let an app hear nothing more')
    .argument('<clientId>')
    .option('--yes', 'do not ask')
    .action(async (clientId: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !mayAsk(settings)) command.error('error: --yes is required where nobody can be asked')
      const message = 'Remove the webhook? What was still to be delivered goes with it.'
      if (!yes && !(await askConfirmation({ message, initialValue: false }))) throw new Cancelled()

      await call(settings, 'DELETE /api/admin/apps/:clientId/webhook', { params: { clientId } })
      if (settings.json) return printJson({ clientId, removed: true })
      console.log(`${clientId} has no webhook any more.`)
    })
}
