import { InvalidArgumentError, type Command } from 'commander'
import { limits } from '@countersign/protocol/formats/limits'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

type Deleting = { confirm: string; reason: string; retainDays: number; legalErasure?: true }

export function addDelete(people: Command): void {
  people
    .command('delete')
    .description('suspend an identity at once, and delete it with all its data later')
    .argument('<identity>', 'username or identity ID')
    .requiredOption('--confirm <username>', 'the username of the identity')
    .requiredOption('--reason <text>', 'shown to the user')
    .option(
      '--retain-days <count>',
      'days in which you can restore it, up to 30; 0 only with --legal-erasure',
      parseDays,
      limits.deletionRetainDays,
    )
    .option('--legal-erasure', 'the law requires the deletion')
    .action(async (given: string, { confirm, ...options }: Deleting, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const body = { confirm: confirm.replace(/^@/, ''), ...options }
      const deletion = await call(settings, 'DELETE /api/admin/identities/:identityId', { params, body })
      if (settings.json) return printJson({ deletion })
      printTable([
        ['ID', deletion.identityId],
        ['Reason', deletion.reason],
        ['Scheduled', deletion.scheduledAt],
        ['Deletion', deletion.dueAt],
      ])
    })
}

export function addRestore(people: Command): void {
  people
    .command('restore')
    .description('undo the scheduled deletion of an identity; sessions, tokens and delegations do not return')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      await call(settings, 'POST /api/admin/identities/:identityId/restore', { params: { identityId } })
      if (settings.json) return printJson({ identityId, restored: true })
      console.log(`${given} is not deleted.`)
    })
}

function parseDays(text: string): number {
  if (!/^\d{1,2}$/.test(text) || Number(text) > limits.deletionRetainDaysMax)
    throw new InvalidArgumentError(`Must be a whole number up to ${limits.deletionRetainDaysMax}.`)
  return Number(text)
}
