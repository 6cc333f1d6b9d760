import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson } from '../terminal.ts'

export function addDisable(apps: Command): void {
  addStatus(apps, 'disable', 'disabled', 'nobody signs in to it, and its tokens are dead, until it is enabled')
}

export function addEnable(apps: Command): void {
  addStatus(apps, 'enable', 'active', 'let people sign in to a disabled app again')
}

function addStatus(apps: Command, name: string, status: 'active' | 'disabled', description: string): void {
  apps
    .command(name)
    .description(description)
    .argument('<clientId>')
    .action(async (clientId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const app = await call(settings, 'PATCH /api/admin/apps/:clientId', { params: { clientId }, body: { status } })
      if (settings.json) return printJson(app)
      console.log(`${clientId} is ${app.status}.`)
    })
}
