import { normalizeEmail } from '@countersign/protocol/formats/email'
import type { IdentityId } from '@countersign/protocol/ids'
import { isUuid } from '@countersign/protocol/values'
import { asId } from '@countersign/protocol/ids'
import { recordEdit } from '#accounts/app-events/event.ts'
import { deleteForDirectory, notifyOfDeletion } from '#accounts/deletion/deletion.ts'
import { notifyFormerEmail, setUnverifiedEmail } from '#accounts/identities/email.ts'
import { changeProfile, generateIdentityId, type IdentityRow, lockIdentity } from '#accounts/identities/identity.ts'
import { lockHandle } from '#accounts/identities/handle.ts'
import { releaseIdentities } from '#accounts/identities/managed.ts'
import { lockAccountOfIdentity, releaseSuspensions } from '#accounts/identities/suspension.ts'
import { changeProvisioned, provisionInvited } from '#accounts/invitations/invited/provisioned.ts'
import { findInvited, lockInvited } from '#accounts/invitations/invited/invited-identity.ts'
import { sourceOf } from '#accounts/operators/acting-operator.ts'
import { requireRightsOver } from '#accounts/operators/operator.ts'
import { auditFieldsOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { activate, suspend } from '#accounts/suspension/suspension.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { defineErrors } from '#platform/api-error.ts'
import { isUniqueViolation, type Transaction } from '#platform/database/database.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { requireVersion } from '#platform/scim/version.ts'
import { errors as messageErrors } from '#platform/scim/message.ts'
import type { ScimSource } from '../source.ts'
import { scimUrlOf } from '../token.ts'
import { handleFor } from './handle.ts'
import { addressOf, displayNameOf, type ScimUser, type StoredUser, toResource } from './user.ts'
import * as store from './user-store.ts'

export type ScimServices = { kernel: ServerContext; lifecycle: Lifecycle }

const errors = defineErrors({ user_not_found: [404, 'This token manages no user with this ID.'] })
const taken = { sentence: 'userName is already in use by another user of this token.' }
const reason = 'A directory has deactivated this identity.'
const deletedReason = 'A directory has deleted this identity.'

/** Returns a user. Throws `user_not_found`, also for the users of other tokens. */
export async function getUser({ kernel }: ScimServices, source: ScimSource, id: string, now: Date) {
  const { db, config } = kernel
  const user = isUuid(id) ? await store.findUser(db, keyOf(source, id), now) : undefined
  if (!user) throw errors.user_not_found()
  return toResource(scimUrlOf(config), user)
}

function keyOf({ tokenId }: ScimSource, id: string) {
  return { tokenId, identityId: asId<IdentityId>(id) }
}

/**
 * Creates a user: an invited identity, which is invited by mail if it has an address. Throws `uniqueness`,
 * `invalidValue`, `too_many_invited_identities`, `too_many_invitations`.
 */
export async function createUser({ kernel }: ScimServices, source: ScimSource, user: ScimUser, now: Date) {
  const { config } = kernel
  const { tokenId } = source
  const identityId = generateIdentityId()
  const stored = await asSource(kernel, source, async (tx) => {
    if (!(await store.insertUser(tx, { tokenId, identityId }, user, now))) throw messageErrors.uniqueness(taken)
    const { userName, active } = user
    const handle = await handleFor(tx, { userName, present: undefined }, now)
    const names = { handle, displayName: displayNameOf(user), email: addressOf(user) }
    await provisionInvited(kernel, tx, { operator: source, identityId, ...names, active }, now)
    return requireStored(tx, { tokenId, identityId }, now)
  })
  return toResource(scimUrlOf(config), stored)
}

type Change = {
  id: string
  ifMatch: string | undefined
  change: (before: ScimUser) => ScimUser
}

/**
 * Changes a user, with what the identity shows. A changed address is unverified. Throws `user_not_found`,
 * `version_mismatch`, `uniqueness`, `operator_protected`, `last_owner`, `rate_limited` and those of `change`.
 */
export async function changeUser(
  services: ScimServices,
  source: ScimSource,
  { id, ifMatch, change }: Change,
  now: Date,
) {
  const { kernel } = services
  const url = scimUrlOf(kernel.config)
  const key = keyOf(source, id)
  const found = isUuid(id) ? await store.findUser(kernel.db, key, now) : undefined
  if (!found) throw errors.user_not_found()
  // Each change reserves another username for months.
  const isRenamed = change(found).userName !== found.userName
  if (isRenamed) await kernel.rateLimits.count('scim-username-changes-per-token', source.tokenId)
  const changed = await asSource(kernel, source, async (tx) => {
    const { before, target } = await lockUser(tx, source, id, now)
    requireVersion(ifMatch, toResource(url, before).meta.version)
    const after = change(before)
    if (isSame(before, after)) return { stored: before, former: undefined }
    if (!(await store.updateUser(tx, key, after, now))) throw messageErrors.uniqueness(taken)
    const former =
      target.kind === 'invited'
        ? await changeInvited(kernel, tx, { source, before: target.row, after }, now)
        : await changeIdentity(services, tx, { source, target, before, after }, now)
    return { stored: await requireStored(tx, key, now), former }
  })
  if (changed.former?.emailVerified) await notifyFormerEmail(kernel, changed.former, 'en')
  return toResource(url, changed.stored)
}

function isSame(before: StoredUser, after: ScimUser): boolean {
  const { identityId: _id, isActive: _active, createdAt: _created, updatedAt: _updated, ...sent } = before
  return JSON.stringify(sorted(sent)) === JSON.stringify(sorted(after))
}

function sorted(user: ScimUser): [string, unknown][] {
  return Object.entries(user).toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/**
 * Deletes a user. An invited identity is deleted at once, else the deletion is scheduled, and operators can restore the
 * identity. Throws `user_not_found`, `version_mismatch`, `operator_protected`, `last_owner`, `owns_apps`.
 */
export async function deleteUser(
  services: ScimServices,
  source: ScimSource,
  { id, ifMatch }: Pick<Change, 'id' | 'ifMatch'>,
  now: Date,
): Promise<void> {
  const { kernel } = services
  const outcome = await asSource(kernel, source, async (tx) => {
    const { before } = await lockUser(tx, source, id, now)
    requireVersion(ifMatch, toResource(scimUrlOf(kernel.config), before).meta.version)
    const { identityId } = before
    const deleted = await deleteForDirectory(tx, services, { operator: source, identityId, reason: deletedReason }, now)
    await releaseUsers(tx, { identityIds: [identityId], source: sourceOf(source) }, now)
    return deleted
  })
  await notifyOfDeletion(kernel, outcome)
}

/** Ends that a source manages identities. What it has suspended stays suspended by operators. */
export async function releaseUsers(
  tx: Transaction,
  released: { identityIds: IdentityId[]; source: string },
  now: Date,
): Promise<void> {
  const { identityIds, source } = released
  await releaseSuspensions(tx, released, now)
  await releaseIdentities(tx, identityIds, source)
  await store.deleteUsers(tx, identityIds)
}

/** Runs a change by a source, which commits only if its token still counts. Throws `uniqueness` if it lost a race. */
async function asSource<Result>(
  { db }: ServerContext,
  source: ScimSource,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    return await operatorTransaction(db, source, work)
  } catch (error) {
    if (isUniqueViolation(error, 'scim_user_by_name')) throw messageErrors.uniqueness(taken)
    throw error
  }
}

async function requireStored(tx: Transaction, key: ReturnType<typeof keyOf>, now: Date): Promise<StoredUser> {
  const stored = await store.findUser(tx, key, now)
  if (!stored) throw errors.user_not_found()
  return stored
}

type Target =
  | { kind: 'invited'; row: NonNullable<Awaited<ReturnType<typeof lockInvited>>> }
  | { kind: 'account'; identityIds: IdentityId[]; identity: IdentityRow }

/** Locks the identity of a user, and then the user. Throws `user_not_found`. */
async function lockUser(tx: Transaction, source: ScimSource, id: string, now: Date) {
  const key = keyOf(source, id)
  // Only what the token manages is locked.
  if (!isUuid(id) || !(await store.findUser(tx, key, now))) throw errors.user_not_found()
  const target = await lockTarget(tx, key.identityId)
  if (!target || !(await store.lockUser(tx, key))) throw errors.user_not_found()
  return { before: await requireStored(tx, key, now), target }
}

async function lockTarget(tx: Transaction, identityId: IdentityId): Promise<Target | undefined> {
  const isInvited = (await findInvited(tx, identityId)) !== undefined
  if (isInvited) await lockHandle(tx, identityId)
  const invited = isInvited ? await lockInvited(tx, identityId) : undefined
  if (invited) return { kind: 'invited', row: invited }
  const account = await lockAccountOfIdentity(tx, identityId)
  const identity = account && (await lockIdentity(tx, identityId))
  return identity && { kind: 'account', identityIds: account.identityIds, identity }
}

type ChangeOf<Before> = { source: ScimSource; before: Before; after: ScimUser }

async function changeInvited(
  kernel: ServerContext,
  tx: Transaction,
  { source, before, after }: ChangeOf<Extract<Target, { kind: 'invited' }>['row']>,
  now: Date,
): Promise<undefined> {
  const handle = await handleFor(tx, { userName: after.userName, present: before }, now)
  const names = { handle, displayName: displayNameOf(after), email: addressOf(after) }
  await changeProvisioned(kernel, tx, { operator: source, before, ...names, active: after.active }, now)
}

type OfAccount = ChangeOf<StoredUser> & { target: Extract<Target, { kind: 'account' }> }

/** Changes an identity that has an account. Returns it as it was if its address has changed. */
async function changeIdentity(
  services: ScimServices,
  tx: Transaction,
  { source, target, before, after }: OfAccount,
  now: Date,
): Promise<IdentityRow | undefined> {
  const { identity, identityIds } = target
  const { identityId, userId } = identity
  await requireRightsOver(tx, source, { accountIdentityIds: identityIds, affectedIds: [identityId] })
  const profile = {
    handle: await handleFor(tx, { userName: after.userName, present: identity }, now),
    displayName: displayNameOf(after),
  }
  const email = addressOf(after)
  const isReaddressed = email !== (identity.email === null ? null : normalizeEmail(identity.email))
  const changed = [
    ...(['handle', 'displayName'] as const).filter((field) => profile[field] !== identity[field]),
    ...(isReaddressed ? (['email'] as const) : []),
  ]
  if (changed.length > 0) {
    const isRenamed = changed.some((field) => field !== 'email')
    const named = isRenamed ? await changeProfile(tx, identity, profile, now) : identity
    const edited = isReaddressed ? await setUnverifiedEmail(tx, { identityId, email }, now) : named
    await recordEdit(tx, { identityId, by: 'scim', before: identity, after: edited }, now)
    const event = { action: 'identity.edited', userId, identityId, details: { changed } } as const
    await recordAuditEvent(tx, { ...event, ...auditFieldsOf(source) }, now)
  }
  await changeState(services, tx, { source, before, after, identity }, now)
  return isReaddressed ? identity : undefined
}

/** Suspends an identity, with the account that this source has created, or ends that suspension. */
async function changeState(
  { lifecycle }: ScimServices,
  tx: Transaction,
  { source, before, after, identity }: ChangeOf<StoredUser> & { identity: IdentityRow },
  now: Date,
): Promise<void> {
  if (before.active === after.active) return
  const { identityId, managesAccount } = identity
  if (after.active) return activate(tx, { operator: source, identityId }, now)
  const scope = managesAccount ? 'account' : 'identity'
  await suspend({ db: tx, lifecycle }, { operator: source, identityId, reason, scope }, now)
}
