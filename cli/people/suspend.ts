import { Option, type Command } from 'commander'
import type { SuspensionScope } from '@countersign/protocol/accounts/suspension'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

const scopeOption = () =>
  new Option('--scope <scope>', 'the whole account, or this identity alone')
    .choices(['account', 'identity'])
    .default('account')

type Suspending = { reason: string; scope: SuspensionScope; until?: string }

export function addSuspend(people: Command): void {
  people
    .command('suspend')
    .description('suspend an account: it has no access, and its sessions and tokens end at once')
    .argument('<identity>', 'username or identity ID')
    .requiredOption('--reason <text>', 'shown to the user')
    .addOption(scopeOption())
    .option('--until <time>', 'when the suspension ends, such as 2026-12-31T12:00:00Z; default: when you activate it')
    .action(async (given: string, body: Suspending, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      const sent = { params: { identityId }, headers: {}, body }
      const suspension = await call(settings, 'POST /api/admin/identities/:identityId/suspension', sent)
      if (settings.json) return printJson({ suspension })
      printTable([
        ['ID', suspension.identityId],
        ['Scope', suspension.scope],
        ['Reason', suspension.reason],
        ['Suspended', suspension.suspendedAt],
        ['Until', suspension.until ?? 'you activate it'],
      ])
    })
}

export function addActivate(people: Command): void {
  people
    .command('activate')
    .description('end the suspension through an identity; sessions, tokens and delegations do not return')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      await call(settings, 'DELETE /api/admin/identities/:identityId/suspension', { params: { identityId } })
      if (settings.json) return printJson({ identityId, activated: true })
      console.log(`The suspension through ${given} has ended.`)
    })
}

export function addSignOut(people: Command): void {
  people
    .command('sign-out')
    .description('end the sessions of an account')
    .argument('<identity>', 'username or identity ID')
    .addOption(scopeOption())
    .action(async (given: string, body: { scope: SuspensionScope }, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      await call(settings, 'POST /api/admin/identities/:identityId/sign-out', { params: { identityId }, body })
      if (settings.json) return printJson({ identityId, signedOut: true })
      console.log(`${given} is signed out.`)
    })
}
