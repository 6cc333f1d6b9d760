import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { CancelledError, isInteractive, printJson, printTable, promptConfirmation } from '../terminal.ts'
import { countMembers, findGroup, rowsOf } from './group.ts'

type Options = { name?: string; description?: string; protected?: boolean }

export function addCreate(groups: Command): void {
  groups
    .command('create')
    .description('create a group')
    .argument('<key>', 'its name in claims: lower-case letters, digits and . _ : / -; it never changes')
    .option('--name <name>', 'name that operators see; default: the key')
    .option('--description <text>', 'what it is for')
    .option('--protected', 'only owners change it and its members')
    .action(async (key: string, { name = key, description, ...options }: Options, command: Command) => {
      const settings = settingsOf(command)
      const body = { key, displayName: name, ...(description && { description }), ...options }
      const group = await call(settings, 'POST /api/admin/groups', { body })
      if (settings.json) return printJson(group)
      printTable(rowsOf(group))
    })
}

export function addChange(groups: Command): void {
  groups
    .command('change')
    .description('change the name, the description or the protection of a group')
    .argument('<key>')
    .option('--name <name>', 'name that operators see')
    .option('--description <text>', "what it is for; '' for none")
    .option('--protected', 'only owners change it and its members')
    .option('--no-protected', 'all operators who manage groups change it')
    .action(async (key: string, { name, description, ...options }: Options, command: Command) => {
      const settings = settingsOf(command)
      if (name === undefined && description === undefined && options.protected === undefined)
        command.error('error: no change given; --help lists the options')
      const { groupId } = await findGroup(settings, key)
      const body = {
        ...(name !== undefined && { displayName: name }),
        ...(description !== undefined && { description: description === '' ? null : description }),
        ...options,
      }
      const group = await call(settings, 'PATCH /api/admin/groups/:groupId', { params: { groupId }, body })
      if (settings.json) return printJson(group)
      printTable(rowsOf(group))
    })
}

export function addDelete(groups: Command): void {
  groups
    .command('delete')
    .description('delete a group; apps that only its members could use are closed to everyone')
    .argument('<key>')
    .option('--yes', 'skip the confirmation')
    .action(async (key: string, { yes }: { yes?: true }, command: Command) => {
      const settings = settingsOf(command)
      if (!yes && !isInteractive(settings)) command.error('error: --yes is required without a terminal')
      const { groupId, memberCount } = await findGroup(settings, key)
      const message = `Delete ${key}? It has ${countMembers(memberCount)}. They lose the access that it gives.`
      if (!yes && !(await promptConfirmation({ message, initialValue: false }))) throw new CancelledError()
      await call(settings, 'DELETE /api/admin/groups/:groupId', { params: { groupId } })
      if (settings.json) return printJson({ key, deleted: true })
      console.log(`${key} was deleted.`)
    })
}
