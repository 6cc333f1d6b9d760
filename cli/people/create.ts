import type { NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import { type Language, languageTags } from '@countersign/protocol/formats/registries/languages'
import type { AdminIdentityDetails } from '@countersign/protocol/operations/people'
import type { Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { findIdentityId } from './identity.ts'
import { collect, parseLanguage } from '../options/values.ts'

type New = { username: string; name: string; email?: string; group?: string[]; language?: Language }

export function addCreate(people: Command): void {
  people
    .command('create')
    .description('add an identity and invite its user: prints a link once, or mails it to an address')
    .requiredOption('--username <username>', 'its username, which no one else can take from now on')
    .requiredOption('--name <text>', 'its display name')
    .option('--email <address>', 'mail the link to this address, which it proves')
    .option('--group <key>', 'group that it joins when it is accepted (repeatable)', collect)
    .option('--language <language>', `language of the mail: ${languageTags.join(', ')}`, parseLanguage)
    .action(async ({ username, name, email, group, language }: New, command: Command) => {
      const settings = settingsOf(command)
      const body = {
        ...{ handle: username.replace(/^@/, ''), displayName: name },
        ...(email !== undefined && { email }),
        ...(group && { groups: group }),
        ...(language && { language }),
      }
      const created = await call(settings, 'POST /api/admin/identities', { body })
      if (settings.json) return printJson(created)
      printInvited(created)
    })
}

export function addInvite(people: Command): void {
  people
    .command('invite')
    .description('invite the user of an invited identity again; the link before ends')
    .argument('<identity>', 'username or identity ID')
    .option('--language <language>', `language of the mail: ${languageTags.join(', ')}`, parseLanguage)
    .action(async (given: string, { language }: Pick<New, 'language'>, command: Command) => {
      const settings = settingsOf(command)
      const params = { identityId: await findIdentityId(settings, given) }
      const body = { ...(language && { language }) }
      const invited = await call(settings, 'POST /api/admin/identities/:identityId/invitation', { params, body })
      if (settings.json) return printJson(invited)
      printInvited(invited)
    })
}

function printInvited({ identity, invitation, url }: NewAccountInvitation & { identity: AdminIdentityDetails }): void {
  printTable([
    ['ID', identity.identityId],
    ['Username', `@${identity.handle}`],
    ['Name', identity.displayName],
    ['Groups', identity.groups.join(', ') || 'none'],
    ['Invitation', invitation.invitationId],
    ['Expires', invitation.expiresAt],
  ])
  console.log(url === undefined ? `\nThe link is mailed to ${invitation.email}.` : `\n${url}`)
}
