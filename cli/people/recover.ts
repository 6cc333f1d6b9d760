import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

export function addRecoveryLink(people: Command): void {
  people
    .command('recovery-link')
    .description('mail a recovery link to a user who has lost every passkey and the recovery code')
    .argument('<identity>', 'username or identity ID')
    .requiredOption('--reason <text>', 'for the audit log')
    .action(async (given: string, { reason }: { reason: string }, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const sent = { params, body: { delivery: 'mail' as const, reason } }
      const recoveryLink = await call(settings, 'POST /api/admin/identities/:identityId/recovery-links', sent)
      if (settings.json) return printJson({ recoveryLink })
      printTable([
        ['ID', recoveryLink.recoveryLinkId],
        ['Mailed', recoveryLink.issuedAt],
        ['Valid until', recoveryLink.expiresAt],
      ])
    })
}

export function addRecoveryLinks(people: Command): void {
  people
    .command('recovery-links')
    .description('list the recovery links of an identity, newest first')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const { recoveryLinks } = await call(settings, 'GET /api/admin/identities/:identityId/recovery-links', { params })
      if (settings.json) return printJson({ recoveryLinks })
      if (recoveryLinks.length === 0) return console.log('None yet.')
      const rows = recoveryLinks.map(({ recoveryLinkId, state, issuedAt, completesAt, holdUntil }) => [
        ...[recoveryLinkId, state, issuedAt],
        ...[completesAt ?? '–', holdUntil ?? '–'],
      ])
      printTable([['ID', 'State', 'Mailed', 'Valid from', 'Undone until'], ...rows])
    })
}

export function addCancelRecovery(people: Command): void {
  people
    .command('cancel-recovery')
    .description('cancel the recovery of an identity, until its new passkey is valid')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const identityId = await findIdentityId(settings, given)
      const name = 'GET /api/admin/identities/:identityId/recovery-links'
      const { recoveryLinks } = await call(settings, name, { params: { identityId } })
      const open = recoveryLinks.find(({ state }) => state === 'issued' || state === 'redeemed')
      if (!open) {
        if (settings.json) return printJson({ identityId, cancelled: false })
        const held = recoveryLinks.find(({ state }) => state === 'completed')
        return console.log(
          held
            ? `The recovery of ${given} is completed. Until ${held.holdUntil}, only its user can undo it.`
            : `No recovery of ${given} is in progress.`,
        )
      }
      const params = { identityId, recoveryLinkId: open.recoveryLinkId }
      await call(settings, 'DELETE /api/admin/identities/:identityId/recovery-links/:recoveryLinkId', { params })
      if (settings.json) return printJson({ identityId, cancelled: true })
      console.log(`The recovery of ${given} is cancelled.`)
    })
}
