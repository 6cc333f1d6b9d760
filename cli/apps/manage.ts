import type { Command } from 'commander'
import { call } from '../call.ts'
import {
  CancelledError,
  isInteractive,
  printJson,
  printTable,
  promptConfirmation,
  stripControlCharacters,
} from '../terminal.ts'
import { settingsOf } from '../settings.ts'
import { styleText } from 'node:util'
import { toSeconds } from './options.ts'

export function addDelete(apps: Command): void {
  apps
    .command('delete')
    .description('delete an app and all its tokens')
    .argument('<clientId>')
    .option('--yes', 'skip the confirmation')
    .action(async (clientId: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')

      const params = { clientId }
      if (!yes) {
        const { name } = await call(settings, 'GET /api/admin/apps/:clientId', { params })
        const message = `Delete ${stripControlCharacters(name)}? All its tokens end at once.`
        if (!(await promptConfirmation({ message, initialValue: false }))) throw new CancelledError()
      }
      await call(settings, 'DELETE /api/admin/apps/:clientId', { params })
      if (settings.json) return printJson({ clientId, deleted: true })
      console.log(`${clientId} was deleted.`)
    })
}

export function addRotateSecret(apps: Command): void {
  apps
    .command('rotate-secret')
    .description('replace the secret of an app; prints the new one once')
    .argument('<clientId>')
    .option('--grace <seconds>', 'how long the old secret stays valid (at most 604800); default: not at all', toSeconds)
    .action(async (clientId: string, { grace }: { grace?: number }, command: Command) => {
      const settings = settingsOf(command)
      const body = grace === undefined ? {} : { graceSeconds: grace }
      const answer = await call(settings, 'POST /api/admin/apps/:clientId/secret', { params: { clientId }, body })
      if (settings.json) return printJson(answer)

      const before = grace === undefined ? 'no longer' : `until ${answer.previousUntil}`
      printTable([
        ['Client secret', answer.clientSecret],
        ['The old secret is valid', before],
      ])
      console.log(styleText('yellow', '\nStore the client secret now. It will not be shown again.'))
    })
}

export function addDisable(apps: Command): void {
  addStatus(apps, 'disable', 'disabled', 'disable an app: sign-ins and tokens stop working until it is enabled')
}

export function addEnable(apps: Command): void {
  addStatus(apps, 'enable', 'active', 'enable a disabled app again')
}

function addStatus(apps: Command, name: string, status: 'active' | 'disabled', description: string): void {
  apps
    .command(name)
    .description(description)
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const app = await call(settings, 'PATCH /api/admin/apps/:clientId', {
        params: { clientId },
        headers: {},
        body: { status },
      })
      if (settings.json) return printJson(app)
      console.log(`${clientId} is ${app.status}.`)
    })
}
