import type { NewAccountInvitation } from '@countersign/protocol/accounts/invitations'
import type { Language } from '@countersign/protocol/formats/registries/languages'
import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { findGroups, requireRightsOverGroup } from '#accounts/groups/group.ts'
import { claimHandle } from '#accounts/identities/handle.ts'
import { findIdentity, generateIdentityId, validateIdentity } from '#accounts/identities/identity.ts'
import { setTerms } from '#accounts/identities/terms/term.ts'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { afterCommit, type Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { describeInvitation } from '../description.ts'
import { invitationUrl } from '../invitation-mail.ts'
import { readInvitation, storeInvitation } from '../invitation.ts'
import { notifyMailing } from '../mailing.ts'
import { revokeInvitation } from './invited-identity.ts'
import * as store from './store.ts'

const errors = defineErrors({
  identity_not_found: [404, 'No identity has this ID.'],
  managed_elsewhere: [409, 'A directory has deactivated this identity by SCIM. It activates the identity there.'],
  identity_not_invited: [409, 'An account has accepted this identity. Only an invited one can be invited again.'],
  state_changed: [409, 'The identity was accepted or deleted meanwhile. Read it again.'],
  too_many_invited_identities: [409, `There can be at most ${limits.invitedIdentitiesMax} invited identities.`],
})

/** How to invite: the operator by whose rights, and the language of the mail, by default that of their browser. */
type Inviting = { operator: Operator; browserLanguage: Language; language?: Language | undefined }

type Addition = Inviting & {
  handle: string
  displayName: string
  email?: string | undefined
  groups?: string[] | undefined
}

/** The invitation of an invited identity, with its link if there is no address that it is mailed to. */
export type Invited = NewAccountInvitation & { identityId: IdentityId }

/**
 * Adds an identity that no account has until its invitation is accepted. Its handle is reserved from now on. With an
 * address the invitation is mailed in the background, else its link is returned. Throws `invalid_handle`,
 * `invalid_request`, `invalid_email`, `mail_not_set_up`, `handle_taken`, `group_not_found`, `permission_denied`,
 * `reauthentication_required`, `too_many_invited_identities`, `too_many_invitations`.
 */
export async function addInvitedIdentity(kernel: ServerContext, addition: Addition, now: Date): Promise<Invited> {
  const { operator, handle, displayName } = addition
  validateIdentity({ handle, displayName })
  const draft = draftOf(kernel, addition, now)
  const identityId = generateIdentityId()
  const stored = await operatorTransaction(kernel.db, operator, async (tx) => {
    await claimHandle(tx, handle, identityId, now)
    const invited = await storeFor(tx, { ...draft, identityId }, now)
    const { groupIds, invitationId } = invited.row
    const managed = { managedBy: null, active: true }
    const row = { identityId, handle, displayName, email: draft.shown.email, groupIds, ...managed, createdAt: now }
    if (!(await store.insertInvited(tx, row))) throw errors.too_many_invited_identities()
    setTerms(tx, identityId, row)
    const event = { action: 'identity.invited', ...auditFieldsOf(operator), identityId } as const
    await recordAuditEvent(tx, { ...event, details: { invitationId } }, now)
    return invited
  })
  return toInvited(kernel, { ...stored, identityId }, now)
}

type Again = Inviting & { identityId: IdentityId }

/**
 * Invites an invited identity again, to its address or with another link. The invitation before ends. It counts by the
 * rights of this operator, who needs those of the first invitation, and for a link those over protected groups of a
 * directory. Throws `identity_not_found`, `identity_not_invited`, `state_changed`, `managed_elsewhere` if a directory
 * has deactivated the identity, and as `addInvitedIdentity`.
 */
export async function inviteAgain(
  kernel: ServerContext,
  { identityId, ...inviting }: Again,
  now: Date,
): Promise<Invited> {
  const { db } = kernel
  const found = await store.findInvited(db, identityId)
  if (!found) throw (await findIdentity(db, identityId)) ? errors.identity_not_invited() : errors.identity_not_found()
  const { operator } = inviting
  const { handle, displayName, email, groupIds } = found
  if (!found.active) throw errors.managed_elsewhere()
  // The groups in which a directory has put it are not of this invitation.
  const groups = (await findGroups(db, groupIds)).filter(({ managedBy }) => managedBy === null).map(({ key }) => key)
  const again = { ...inviting, handle, displayName, groups, ...(email !== null && { email }) }
  const draft = draftOf(kernel, again, now)
  const stored = await operatorTransaction(db, operator, async (tx) => {
    const locked = await store.lockInvited(tx, identityId)
    if (!locked?.active || locked.groupIds.join() !== groupIds.join()) throw errors.state_changed()
    // A mail reaches the address that the directory names. The operator can give a link to anyone.
    if (email === null)
      for (const group of await findGroups(tx, locked.groupIds)) requireRightsOverGroup(operator, group, now)
    await revokeInvitation(tx, { operator, identityId }, now)
    return storeFor(tx, { ...draft, identityId }, now)
  })
  return toInvited(kernel, { ...stored, identityId }, now)
}

type Draft = ReturnType<typeof readInvitation>

/** Reads the invitation of an addition. Throws `mail_not_set_up` if it has an address, and as `readInvitation`. */
export function draftOf({ mail }: Pick<ServerContext, 'mail'>, addition: Addition, now: Date): Draft {
  const { operator, browserLanguage, language, handle, displayName, email, groups } = addition
  const kind = email === undefined ? 'link' : 'mail'
  const draft = readInvitation({ operator, browserLanguage, language, kind, handle, displayName, email, groups }, now)
  if (email !== undefined) mail.require()
  return draft
}

/** Stores the invitation of an invited identity, and mails it in the background if it has an address. */
export async function storeFor(tx: Transaction, draft: Draft & { identityId: IdentityId }, now: Date) {
  const isMailed = draft.shown.kind === 'mail'
  const stored = await storeInvitation(tx, { ...draft, mailAt: isMailed ? now : null }, now)
  if (isMailed) afterCommit(tx, notifyMailing)
  return stored
}

type StoredFor = Awaited<ReturnType<typeof storeInvitation>> & { identityId: IdentityId }

/** A mailed token proves the address, so that only the mail has it. */
async function toInvited({ db, config }: ServerContext, { row, token, identityId }: StoredFor, now: Date) {
  const invitation = await describeInvitation(db, { ...row, mailedAt: null }, now)
  return { identityId, invitation, ...(row.kind === 'link' && { token, url: invitationUrl(config, token) }) }
}
