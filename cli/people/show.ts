import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no')

export function addShow(people: Command): void {
  people
    .command('show')
    .description('show an identity; its user sees in their activity that an operator looked')
    .argument('<identity>', 'username or identity ID')
    .action(async (given: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const { identity } = await call(settings, 'GET /api/admin/identities/:identityId', { params })
      if (settings.json) return printJson({ identity })
      const verified = identity.emailVerified ? 'verified' : 'not verified'
      printTable([
        ['ID', identity.identityId],
        ['Username', `@${identity.handle}`],
        ['Name', identity.displayName],
        ['E-mail', identity.email === null ? 'none' : `${identity.email} (${verified})`],
        ['Status', identity.status],
        ...(identity.status === 'suspended' ? [['Suspended', identity.statusAt ?? '']] : []),
        ...(identity.status === 'recovering' ? [['Link used', identity.statusAt ?? '']] : []),
        ...(identity.deletionDueAt === null ? [] : [['Deletion', identity.deletionDueAt]]),
        ...(identity.statusReason === null ? [] : [['Reason', identity.statusReason]]),
        ...identity.suspensions.map(({ source, scope, until }): [string, string] => [
          'Suspended by',
          `${source}: ${scope === 'account' ? 'the whole account' : 'this identity'}, until ${until ?? 'activated'}`,
        ]),
        ...(identity.managedBy === 'self' ? [] : [['Managed by', identity.managedBy]]),
        ['Created', identity.createdAt],
        ['Last seen', identity.lastSeenOn ?? 'never'],
        ['Groups', identity.groups.join(', ') || 'none'],
        ['Organizations', identity.organizations.map(({ name, role }) => `${name} (${role})`).join(', ') || 'none'],
        ['Passkey', yesOrNo(identity.hasPasskey)],
        ['Recovery code', yesOrNo(identity.hasRecoveryCode)],
        ['Signing key', yesOrNo(identity.hasSigningKey)],
      ])
    })
}
