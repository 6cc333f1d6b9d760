import { randomUUIDv7 } from 'node:crypto'
import type { AccountInvitation, NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { containsAddress, isEmail, normalizeEmail } from '@countersign/protocol/formats/email'
import { limits } from '@countersign/protocol/formats/limits'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import type { IdentityId } from '@countersign/protocol/ids'
import { findGroups, requireGroups, requireRightsOverMembers } from '#accounts/groups/group.ts'
import { holdRights, requirePermissions, rightsOf } from '#accounts/operators/acting-operator.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { afterCommit, type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { readInstant } from '#platform/http/instant.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { hashKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError, defineErrors } from '#platform/api-error.ts'
import { describeInvitation, describeInvitations, languageOf } from './description.ts'
import { invitationUrl, letterOf, type LetterInput } from './invitation-mail.ts'
import { notifyMailing } from './mailing.ts'
import * as store from './store.ts'
import { voidReasonOf } from './void.ts'

const errors = defineErrors({
  invalid_request: [400, 'expiresAt must be an hour to 90 days from now.'],
  invalid_email: [400, 'email must be a deliverable e-mail address, for a mailed invitation alone.'],
  invitation_not_found: [404, 'No invitation has this ID.'],
  invitation_void: [409, 'This invitation is void: its link would not work. Delete it, and create another one.'],
  invitation_not_mailed: [409, 'Only a mailed invitation that was not used can be mailed again.'],
  too_many_invitations: [409, `There can be at most ${limits.accountInvitationsMax} pending invitations.`],
})

export type InvitationInput = {
  kind: 'link' | 'mail'
  email?: string | undefined
  handle?: string | undefined
  displayName?: string | undefined
  groups?: string[] | undefined
  language?: Language | undefined
  message?: string | undefined
  maxUses?: number | undefined
  expiresAt?: string | undefined
}

type Inviting = InvitationInput & { operator: Operator; browserLanguage: Language }

/** An invitation that was read and may be stored. */
type Draft = ReturnType<typeof readInvitation>

/** Reads an invitation. Throws `invalid_request`, `invalid_email`, `permission_denied` for groups. */
export function readInvitation({ operator, browserLanguage, ...requested }: Inviting, now: Date) {
  const { kind, handle = null, displayName = null, groups = [], message = null, maxUses = 1 } = requested
  const email = readEmail(requested)
  validateShown({ displayName, message })
  if (kind === 'mail' && maxUses > 1) throw errors.invalid_request({ sentence: 'A mailed invitation is for one use.' })
  if (groups.length > 0) requirePermissions(operator, ['groups.manage'])
  const expiresAt = readExpiry(requested.expiresAt, now)
  const language = requested.language ?? browserLanguage
  return { operator, groups, shown: { kind, email, handle, displayName, language, message, maxUses, expiresAt } }
}

/** An invitation in the database, and its token, which only its recipient may learn. */
type StoredInvitation = Awaited<ReturnType<typeof storeInvitation>>

/**
 * Stores an invitation and mails it in the background, in the transaction of other changes. Returns its ID. Throws as
 * `storeInvitation`.
 */
export async function storeMailedInvitation(tx: Transaction, draft: Draft, now: Date): Promise<string> {
  const { row } = await storeInvitation(tx, { ...draft, mailAt: now }, now)
  afterCommit(tx, notifyMailing)
  return row.invitationId
}

/** When it is mailed in the background, and the invited identity that it is for. */
type Purpose = { mailAt?: Date | null; identityId?: IdentityId | null }

/**
 * Stores an invitation without mailing it. Throws `permission_denied` and `reauthentication_required` for groups that
 * the operator may not change, `invalid_request`, `group_not_found`, `too_many_invitations`.
 */
export async function storeInvitation(
  db: Database,
  { operator, groups, shown, mailAt = null, identityId = null }: Draft & Purpose,
  now: Date,
) {
  const { kind, maxUses } = shown
  const token = generateToken('accountInvitation')
  const tokenSha256 = sha256(token)
  const row = await operatorTransaction(db, operator, async (tx) => {
    const found = await requireGroups(tx, groups)
    const invitationId = randomUUIDv7()
    const groupIds = found.map(({ groupId }) => groupId)
    await requireRightsOverGroups(tx, { operator, groupIds, maxUses }, now)
    const inserted = { ...shown, ...rightsOf(operator), invitationId, tokenSha256, groupIds, mailAt, identityId }
    if (!(await store.insertInvitation(tx, inserted, now))) throw errors.too_many_invitations()
    const details = { invitationId, kind, groups, maxUses }
    await recordAuditEvent(tx, { action: 'invitation.created', ...auditFieldsOf(operator), details }, now)
    return { ...inserted, useCount: 0, createdAt: now, issuedAt: now, nextMailAt: mailAt }
  })
  return { row, token }
}

/** Mails a stored invitation. Returns false if that fails, or if it is a link: it stays, and can be mailed again. */
async function mailInvitation(kernel: ServerContext, { row, token }: StoredInvitation): Promise<boolean> {
  const { email, message, language, tokenSha256 } = row
  if (email === null) return false
  const isMailed = await tryToMail(kernel, { email, message, language, url: invitationUrl(kernel.config, token) })
  if (isMailed) await store.noteMailed(kernel.db, tokenSha256, kernel.clock())
  return isMailed
}

/** Counts a mail to the address of an invitation. Throws `rate_limited`. */
function countMail({ rateLimits }: Pick<ServerContext, 'rateLimits'>, email: string): Promise<void> {
  return rateLimits.count('operator-mails-per-address', hashKey(email.toLowerCase()))
}

/**
 * Creates an invitation, and mails it if it is for an address. The answer alone contains the token of a link. It never
 * contains a mailed one, which proves the address. If mailing fails, the invitation stays, and can be mailed again.
 * Throws as `readInvitation` and `storeInvitation`, and `mail_not_set_up`, `rate_limited`.
 */
export async function createInvitation(
  kernel: ServerContext,
  inviting: Inviting,
  now: Date,
): Promise<NewAccountInvitation> {
  const { db, config, mail } = kernel
  const draft = readInvitation(inviting, now)
  const { kind, email } = draft.shown
  if (email !== null) {
    mail.require()
    await countMail(kernel, email)
  }
  const stored = await storeInvitation(db, draft, now)
  const isMailed = await mailInvitation(kernel, stored)
  const invitation = await describeInvitation(db, { ...stored.row, mailedAt: isMailed ? now : null }, now)
  return { invitation, ...(kind === 'link' && { token: stored.token, url: invitationUrl(config, stored.token) }) }
}

type Page = { before: string | undefined; count: number }

/** Lists a page of the invitations, newest first. */
export async function listInvitations(
  db: Database,
  { before, count }: Page,
  now: Date,
): Promise<{ invitations: AccountInvitation[]; nextCursor: string | null }> {
  const found = await store.listInvitations(db, { before, count: count + 1 })
  const page = found.slice(0, count)
  const nextCursor = found.length > count ? (page.at(-1)?.invitationId ?? null) : null
  return { invitations: await describeInvitations(db, page, now), nextCursor }
}

/**
 * The invitation of an address. If it is void and has not expired, the address can be invited again, instead of all
 * such invitations (`voidIds`).
 */
type Existing = { invitationId: string; isVoid: boolean; voidIds: string[] }

/**
 * Returns the mailed invitations of addresses, by address in lower case: of each the newest that was used, is pending,
 * or is that of an invited identity. Without one, the newest.
 */
export async function findInvitationsOf(db: Database, emails: string[], now: Date): Promise<Map<string, Existing>> {
  const rows = emails.length === 0 ? [] : await store.findByAddress(db, emails)
  const described = await describeInvitations(db, rows, now)
  const isCurrent = ({ expiresAt }: AccountInvitation) => Date.parse(expiresAt) > now.getTime()
  const isVoid = (each: AccountInvitation) => each.status === 'void' && each.identityId === null && isCurrent(each)
  const counts = (each: AccountInvitation) => each.status === 'used' || (isCurrent(each) && !isVoid(each))
  const found = new Map<string, Existing>()
  for (const [address, all] of Map.groupBy(described, ({ email }) => email?.toLowerCase() ?? '')) {
    const voidIds = all.filter(isVoid).map(({ invitationId }) => invitationId)
    const shown = all.findLast(counts) ?? all.at(-1)
    if (shown) found.set(address, { invitationId: shown.invitationId, isVoid: isVoid(shown), voidIds })
  }
  return found
}

/** Lists `count` mailed invitations that were not used and are not void, those after another one. */
export async function listPendingMailed(
  db: Database,
  page: { after: string | undefined; count: number },
  now: Date,
): Promise<{ invitations: AccountInvitation[]; last: string | undefined }> {
  const rows = await store.listPendingMailed(db, page, now)
  const all = await describeInvitations(db, rows, now)
  const last = rows.length < page.count ? undefined : rows.at(-1)?.invitationId
  return { invitations: all.filter(({ status }) => status === 'pending'), last }
}

/** Throws `invitation_not_found`. */
export async function getInvitation(db: Database, invitationId: string, now: Date): Promise<AccountInvitation> {
  const row = await store.findInvitation(db, invitationId)
  if (!row) throw errors.invitation_not_found()
  return describeInvitation(db, row, now)
}

type Target = { operator: Operator; invitationId: string }

/** Deletes an invitation, so that its link ends. Throws `invitation_not_found`. */
export async function deleteInvitation(db: Database, { operator, invitationId }: Target, now: Date): Promise<void> {
  await operatorTransaction(db, operator, async (tx) => {
    const deleted = await store.deleteInvitation(tx, invitationId)
    if (!deleted) throw errors.invitation_not_found()
    const details = { invitationId, kind: deleted.kind }
    await recordAuditEvent(tx, { action: 'invitation.deleted', ...auditFieldsOf(operator), details }, now)
  })
}

/**
 * Mails an invitation again with a new link, which ends the one before. This renews an expired one, too, so that it
 * needs the same rights as a new one. It is mailed before it is stored: if that fails, the one before stays valid.
 * Throws `invitation_not_found`, `invitation_not_mailed`, `invitation_void`, `permission_denied`,
 * `reauthentication_required`, `mail_not_set_up`, `rate_limited`, `temporarily_unavailable`, `undeliverable`.
 */
export async function resendInvitation(
  kernel: ServerContext,
  { operator, invitationId }: Target,
  now: Date,
): Promise<AccountInvitation> {
  const { db, config, mail } = kernel
  const found = await store.findInvitation(db, invitationId)
  if (!found) throw errors.invitation_not_found()
  const { email, message, useCount } = found
  if (email === null || useCount > 0) throw errors.invitation_not_mailed()
  await requireRightsOverGroups(db, { operator, ...found }, now)
  await transaction(db, (tx) => requireNotVoid(tx, found, now))
  const language = languageOf(found)
  mail.require()
  await countMail(kernel, email)
  const token = generateToken('accountInvitation')
  await mail.send(letterOf(config, { email, message, language, url: invitationUrl(config, token) }))
  await operatorTransaction(db, operator, async (tx) => {
    const row = await store.reissue(tx, { invitationId, tokenSha256: sha256(token) }, now)
    if (!row) throw errors.invitation_not_mailed()
    await requireRightsOverGroups(tx, { operator, ...row }, now)
    await requireNotVoid(tx, row, now)
    const event = { action: 'invitation.resent', ...auditFieldsOf(operator), details: { invitationId } } as const
    await recordAuditEvent(tx, event, now)
  })
  return getInvitation(db, invitationId, now)
}

/** Deletes up to `batch` invitations that expired a month ago. Returns their number. */
export function pruneInvitations(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpired(db, addSeconds(now, -limits.accountInvitationListedSeconds), batch)
}

type GroupsOfInvitation = { operator: Operator; groupIds: string[]; maxUses: number }

/**
 * Throws `permission_denied` for groups, as `requireRightsOverMembers`, and `invalid_request` for a protected group and
 * more than one use.
 */
async function requireRightsOverGroups(
  db: Database | Transaction,
  { operator, groupIds, maxUses }: GroupsOfInvitation,
  now: Date,
): Promise<void> {
  const groups = await findGroups(db, groupIds)
  if (groups.length > 0) requirePermissions(operator, ['groups.manage'])
  for (const group of groups) {
    requireRightsOverMembers(operator, group, now)
    if (group.protected && maxUses > 1)
      throw errors.invalid_request({ sentence: 'An invitation into a protected group is for one use.' })
  }
}

/** Throws `invitation_void` for a mailed invitation whose link could not be accepted. */
async function requireNotVoid(tx: Transaction, invitation: store.InvitationRow, now: Date): Promise<void> {
  const held = await holdRights(tx, invitation, now)
  const groups = await findGroups(tx, invitation.groupIds)
  const reason = voidReasonOf({ ...invitation, groups, identityGroups: [], held })
  if (reason !== null) throw errors.invitation_void({ fields: { reason } })
}

/** Mails an invitation. Returns false if that fails. */
async function tryToMail(kernel: ServerContext, letter: LetterInput): Promise<boolean> {
  try {
    await kernel.mail.send(letterOf(kernel.config, letter))
    return true
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    kernel.log.warn({ reason: error.code }, 'invitation mail failed')
    return false
  }
}

function readEmail({ kind, email }: InvitationInput): string | null {
  if ((kind === 'mail') !== (email !== undefined)) throw errors.invalid_email()
  if (email === undefined) return null
  if (!isEmail(email)) throw errors.invalid_email()
  return normalizeEmail(email)
}

function readExpiry(written: string | undefined, now: Date): Date {
  if (written === undefined) return addSeconds(now, limits.accountInvitationSecondsDefault)
  const expiresAt = readInstant(written)
  const [earliest, latest] = [limits.accountInvitationSecondsMin, limits.accountInvitationSecondsMax]
  if (expiresAt < addSeconds(now, earliest) || expiresAt > addSeconds(now, latest)) throw errors.invalid_request()
  return expiresAt
}

/** Throws `invalid_request` for a text that disguises itself, and for a message with an address in it. */
function validateShown({ displayName, message }: { displayName: string | null; message: string | null }): void {
  if (displayName !== null && !isDisplayName(displayName))
    throw errors.invalid_request({ sentence: 'displayName must be 1 to 80 visible characters.' })
  if (message === null) return
  if (!isDisplayName(message, limits.invitationMessageCharactersMax))
    throw errors.invalid_request({ sentence: 'message must be 1 to 500 visible characters in one line.' })
  if (containsAddress(message))
    throw errors.invalid_request({ sentence: 'message must contain no address. Write a space after each sentence.' })
}
