import type { AccountInvitationPreview } from '@countersign/protocol/accounts/invitations'
import type { Identity, NewIdentity } from '@countersign/protocol/accounts/identities'
import type { IdentityId } from '@countersign/protocol/ids'
import { findGroups } from '#accounts/groups/group.ts'
import { joinGroups } from '#accounts/groups/member.ts'
import { joinGroupsOfSource } from '#accounts/groups/managed.ts'
import { setProvedEmail } from '#accounts/identities/email.ts'
import { requireUnbrandedHandle } from '#accounts/identities/handle.ts'
import {
  actingUserTransaction,
  addToAccount,
  findIdentity,
  generateIdentityId,
  toIdentity,
} from '#accounts/identities/identity.ts'
import { setManager } from '#accounts/identities/managed.ts'
import { holdRights } from '#accounts/operators/acting-operator.ts'
import { isInAccountOf } from '#accounts/operators/operator.ts'
import type { PasskeySession } from '#accounts/sessions/session.ts'
import { consumeProof, requireOpenMode, requireProof } from '#accounts/registration-email/proof.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Config } from '#platform/config/config.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import type { RegisteredIdentity, RegistrationPart } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { readRegistrationRule, type RegistrationRule } from '#platform/settings/setting.ts'
import { defineErrors } from '#platform/api-error.ts'
import { acceptInvited, findInvited, findInvitedOfToken, type InvitedRow } from './invited/invited-identity.ts'
import * as store from './store.ts'
import { voidReasonOf } from './void.ts'

const errors = defineErrors({
  invalid_request: [400, 'handle and displayName must be those of the invitation.'],
  operator_protected: [
    403,
    'Operators cannot accept their own invitation into groups. Another operator can invite you.',
  ],
  invitation_expired: [410, 'The invitation does not exist, has expired, or was used, deleted or withdrawn.'],
})

/** Returns what the holder of a token sees before they register. Throws `invitation_expired`. */
export async function previewInvitation(db: Database, token: string, now: Date): Promise<AccountInvitationPreview> {
  const { invitation } = await transaction(db, async (tx) => {
    const found = await store.findUsable(tx, sha256(token), now)
    const invited = found?.identityId ? await findInvited(tx, found.identityId) : undefined
    return requireRights(tx, { invitation: found, invited }, now)
  })
  const { handle, displayName, email, message, identityId } = invitation
  return { handle, displayName, email, message, areNamesFixed: identityId !== null }
}

/** What permits a registration: its invitation, or that everyone may register. It is decided at the end. */
export const admissionOfRegistration: RegistrationPart = {
  async invited({ db, clock }, { invitation, ...names }) {
    return invitation === undefined ? undefined : findNamed(db, { ...names, invitation }, clock())
  },
  async started({ db, config, clock }, start) {
    const { invitation, emailProof } = start
    const now = clock()
    await transaction(db, async (tx) => {
      const rule = await findRule(tx, config, start)
      if (rule) await requireProof(tx, { emailProof, rule }, now)
    })
    if (invitation !== undefined) await previewInvitation(db, invitation, now)
    return {}
  },
  finished:
    ({ config }, finish) =>
    async (tx, registered, now) => {
      const { invitation, emailProof } = finish
      const rule = await findRule(tx, config, finish)
      if (invitation !== undefined) return accept(tx, { token: invitation, ...registered, isFirst: true }, now)
      if (registered.isInvited) throw errors.invitation_expired()
      const email = rule && (await consumeProof(tx, { emailProof, rule }, now))
      return email === undefined ? {} : setFirstEmail(tx, { ...registered, email }, now)
    },
}

/** Sets the address that a new user has proved before they registered. */
async function setFirstEmail(
  tx: Transaction,
  { identityId, email }: { identityId: IdentityId; email: string },
  now: Date,
): Promise<{ identities: Identity[] }> {
  const before = await findIdentity(tx, identityId)
  if (!before) throw new Error('a new identity is missing')
  const after = await setProvedEmail(tx, { userId: before.userId, before, email, by: 'registration' }, now)
  return { identities: [toIdentity(after)] }
}

/**
 * Returns the invited identity that an invitation is for, or undefined. Throws `invalid_request` if it has other names
 * than those requested: its recipient cannot choose them.
 */
async function findNamed(
  db: Database,
  { invitation, handle, displayName }: NewIdentity & { invitation: string },
  now: Date,
): Promise<IdentityId | undefined> {
  const named = await findInvitedOfToken(db, sha256(invitation), now)
  if (named && (named.handle !== handle || named.displayName !== displayName)) throw errors.invalid_request()
  return named?.identityId
}

type Presented = { setup?: string | undefined; invitation?: string | undefined }

/**
 * Returns the rule by which an address must be proved, or undefined if a setup link or an invitation is presented. The
 * setup by the first operator is always possible: a wrong setup link is refused where it is used. Throws
 * `registration_closed` or `invitation_required`.
 */
async function findRule(
  tx: Transaction,
  config: Config,
  { setup, invitation }: Presented,
): Promise<RegistrationRule | undefined> {
  if (setup !== undefined) return undefined
  const rule = await readRegistrationRule(tx, config)
  requireOpenMode(rule, invitation)
  return invitation === undefined ? rule : undefined
}

type Accepting = NewIdentity & { session: PasskeySession; invitation: string }

/**
 * Adds an identity to the account of a session by an invitation, which applies to this identity alone. Operators see
 * the same as after a registration. Throws `registration_closed`, `invitation_expired`, `invalid_request`,
 * `operator_protected`, and as `addToAccount`.
 */
export function acceptWithFurtherIdentity(
  { db, config }: ServerContext,
  { session, invitation, ...requested }: Accepting,
  now: Date,
): Promise<Identity> {
  const { userId } = session
  return actingUserTransaction(db, session, async (tx) => {
    await findRule(tx, config, { invitation })
    const invited = await findNamed(tx, { ...requested, invitation }, now)
    const identityId = invited ?? generateIdentityId()
    await requireUnbrandedHandle(tx, config, { handle: requested.handle, identityId })
    const added = await addToAccount(tx, { ...requested, userId }, identityId, now)
    const registered = { identityId, isInvited: invited !== undefined }
    const { identities } = await accept(tx, { token: invitation, ...registered, isFirst: false }, now)
    return identities[0] ?? toIdentity(added)
  })
}

/** `isFirst` tells if the invitation creates the account too. */
type Accepted = RegisteredIdentity & { token: string; isFirst: boolean }

/**
 * Uses an invitation once for a new identity, which joins its groups and gets the address that the mailed token proves.
 * Operators do not join groups by their own invitation with their account, as by no other change. Throws
 * `invitation_expired`, `operator_protected`.
 */
async function accept(tx: Transaction, { token, identityId, isInvited, isFirst }: Accepted, now: Date) {
  // Like everything that changes an invited identity, this locks it before its invitation.
  const invited = isInvited ? await acceptInvited(tx, identityId) : undefined
  if (isInvited && !invited?.active) throw errors.invitation_expired()
  const consumed = await store.consumeInvitation(tx, sha256(token), now)
  const { invitation, groups, identityGroups, held } = await requireRights(tx, { invitation: consumed, invited }, now)
  // The invitation of another identity must not accept this one, nor that of this identity another one.
  if (invitation.identityId !== (isInvited ? identityId : null)) throw errors.invitation_expired()
  const { kind, operatorId } = invitation
  const isIntoGroups = groups.length > 0 || (kind === 'link' && identityGroups.length > 0)
  if (!isFirst && isIntoGroups && (await isInAccountOf(tx, operatorId, [identityId]))) throw errors.operator_protected()
  await store.recordAccepted(tx, invitation.invitationId, identityId)
  const before = await findIdentity(tx, identityId)
  if (!before) throw errors.invitation_expired()
  // A directory may have renamed it since the registration began.
  if (invited && (invited.handle !== before.handle || invited.displayName !== before.displayName))
    throw errors.invitation_expired()
  const { userId } = before
  const { invitationId, email } = invitation
  const event = { action: 'invitation.accepted', actor: 'user', userId, identityId, details: { invitationId } } as const
  await recordAuditEvent(tx, event, now)
  if (email !== null) await setProvedEmail(tx, { userId, before, email, by: 'invitation' }, now)
  if (!(await joinGroups(tx, { identityId, groups, invitationId }, now))) throw errors.invitation_expired()
  if (invited?.managedBy === null) {
    // A directory that was deleted has left the groups that it had named.
    const left = identityGroups.filter(({ groupId }) => !invitation.groupIds.includes(groupId))
    if (!(await joinGroups(tx, { identityId, groups: left, invitationId }, now))) throw errors.invitation_expired()
  } else if (invited) {
    const { managedBy, groupIds } = invited
    await setManager(tx, identityId, { managedBy, managesAccount: isFirst })
    const joinsProtected = kind === 'mail' || held.includes('operators.manage')
    if (!(await joinGroupsOfSource(tx, { identityId, managedBy, groupIds, joinsProtected }, now)))
      throw errors.invitation_expired()
  }
  const after = await findIdentity(tx, identityId)
  return { identities: after ? [toIdentity(after)] : [] }
}

type Presenting = { invitation: store.InvitationRow | undefined; invited: InvitedRow | undefined }

/**
 * Returns an invitation with its groups, those of its invited identity, and the rights of its operator. Throws
 * `invitation_expired` without one, or if it is void.
 */
async function requireRights(tx: Transaction, { invitation, invited }: Presenting, now: Date) {
  if (!invitation) throw errors.invitation_expired()
  const found = await findGroups(tx, [...new Set([...invitation.groupIds, ...(invited?.groupIds ?? [])])])
  const groups = found.filter(({ groupId }) => invitation.groupIds.includes(groupId))
  const identityGroups = found.filter(({ groupId }) => invited?.groupIds.includes(groupId))
  const held = await holdRights(tx, invitation, now)
  if (voidReasonOf({ ...invitation, groups, identityGroups, held }) !== null) throw errors.invitation_expired()
  return { invitation, groups, identityGroups, held }
}
