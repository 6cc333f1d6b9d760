import type { AccountInvitation, InvitationVoidReason } from '@countersign/protocol/accounts/invitations'
import { limits } from '@countersign/protocol/formats/limits'
import { type Language, languageTags } from '@countersign/protocol/formats/registries/languages'
import { InvalidArgumentError, type Command } from 'commander'
import { call } from '../call.ts'
import { settingsOf } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { collect, parseLanguage } from '../options/values.ts'

type Options = {
  email?: string
  username?: string
  name?: string
  group?: string[]
  language?: Language
  message?: string
  uses?: number
  hours?: number
}

export function addCreate(invitations: Command): void {
  invitations
    .command('create')
    .description('invite someone to register: prints a link once, or mails it to an address')
    .option('--email <address>', 'mail the link to this address, which it proves')
    .option('--username <username>', 'suggested username')
    .option('--name <name>', 'suggested display name')
    .option('--group <key>', 'group that the new identity joins (repeatable)', collect)
    .option('--language <language>', `language of the mail: ${languageTags.join(', ')}`, parseLanguage)
    .option('--message <text>', 'what the invited person reads, without an address')
    .option('--uses <number>', `accounts that the link can register, at most ${limits.invitationUsesMax}`, toNumber)
    .option('--hours <number>', 'until it expires; the default is 168', toNumber)
    .action(async (options: Options, command: Command) => {
      const settings = settingsOf(command)
      const { email, username, name, group, language, message, uses, hours } = options
      const expiresAt = hours === undefined ? undefined : expiryIn(hours)
      const body = {
        kind: email === undefined ? ('link' as const) : ('mail' as const),
        ...(email !== undefined && { email }),
        ...(username !== undefined && { handle: username.replace(/^@/, '') }),
        ...(name !== undefined && { displayName: name }),
        ...(group && { groups: group }),
        ...(language && { language }),
        ...(message !== undefined && { message }),
        ...(uses !== undefined && { maxUses: uses }),
        ...(expiresAt !== undefined && { expiresAt }),
      }
      const created = await call(settings, 'POST /api/admin/invitations', { body })
      if (settings.json) return printJson(created)
      const { invitation, url } = created
      printTable(rowsOf(invitation))
      if (url !== undefined) console.log(`\n${url}`)
      else if (invitation.mailedAt === null)
        console.log(`\nNot mailed. Try again: countersign invitations resend ${invitation.invitationId}`)
    })
}

export function addList(invitations: Command): void {
  invitations
    .command('list')
    .description('list the invitations, newest first')
    .action(async (_: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found: AccountInvitation[] = []
      for (let cursor: string | null | undefined; cursor !== null;) {
        const page = await call(settings, 'GET /api/admin/invitations', { querystring: cursor ? { cursor } : {} })
        found.push(...page.invitations)
        cursor = page.nextCursor
      }
      if (settings.json) return printJson({ invitations: found })
      if (found.length === 0) return console.log('None yet: countersign invitations create')
      const rows = found.map((each) => [
        each.invitationId,
        each.email ?? 'link',
        statusOf(each),
        usesOf(each),
        each.expiresAt,
      ])
      printTable([['ID', 'For', 'Status', 'Used', 'Expires'], ...rows])
    })
}

export function addShow(invitations: Command): void {
  invitations
    .command('show')
    .description('show an invitation')
    .argument('<invitation>', 'its ID')
    .action(async (invitationId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const found = await call(settings, 'GET /api/admin/invitations/:invitationId', { params: { invitationId } })
      if (settings.json) return printJson(found)
      printTable(rowsOf(found))
    })
}

export function addDelete(invitations: Command): void {
  invitations
    .command('delete')
    .description('delete an invitation: its link ends, accounts stay')
    .argument('<invitation>', 'its ID')
    .action(async (invitationId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      await call(settings, 'DELETE /api/admin/invitations/:invitationId', { params: { invitationId } })
      if (settings.json) return printJson({ invitationId, deleted: true })
      console.log('Deleted.')
    })
}

export function addResend(invitations: Command): void {
  invitations
    .command('resend')
    .description('mail an invitation again, with a new link')
    .argument('<invitation>', 'its ID')
    .action(async (invitationId: string, _: unknown, command: Command) => {
      const settings = settingsOf(command)
      const sent = await call(settings, 'POST /api/admin/invitations/:invitationId/resend', {
        params: { invitationId },
      })
      if (settings.json) return printJson(sent)
      console.log(`Mailed to ${sent.email}. The link expires at ${sent.expiresAt}.`)
    })
}

function rowsOf(invitation: AccountInvitation): string[][] {
  const { invitationId, email, handle, displayName, groups, message, expiresAt } = invitation
  return [
    ['ID', invitationId],
    ['For', email ?? 'anyone with the link'],
    ...(handle === null ? [] : [['Username', handle]]),
    ...(displayName === null ? [] : [['Name', displayName]]),
    ...(groups.length === 0 ? [] : [['Groups', groups.join(', ')]]),
    ...(message === null ? [] : [['Message', message]]),
    ['Status', statusOf(invitation)],
    ['Used', usesOf(invitation)],
    ['Expires', expiresAt],
  ]
}

const voidReasons: Record<InvitationVoidReason, string> = {
  rights_lost: 'its operator may no longer invite or manage its groups',
  group_protected: 'a group is protected now',
}

function statusOf({ kind, status, voidReason, mailedAt, nextMailAt }: AccountInvitation): string {
  if (voidReason !== null) return `${status}: ${voidReasons[voidReason]}`
  if (status === 'pending' && nextMailAt !== null) return `${status}: to be mailed`
  return kind === 'mail' && mailedAt === null && status !== 'used' ? `${status}: not mailed` : status
}

function usesOf({ useCount, maxUses }: AccountInvitation): string {
  return `${useCount} of ${maxUses}`
}

/** Returns when an invitation expires. The limits of the server begin later, when it gets the request. */
function expiryIn(hours: number): string {
  const isLongest = hours * 3600 >= limits.accountInvitationSecondsMax
  return new Date(Date.now() + hours * 3_600_000 + (isLongest ? -60_000 : 60_000)).toISOString()
}

function toNumber(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 1) throw new InvalidArgumentError('It must be a whole number above 0.')
  return number
}
