import { randomUUID } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import type { Identity, IdentityChange, NewIdentity } from '@countersign/protocol/accounts/identities'
import { type IdentityId, type UserId, asId } from '@countersign/protocol/ids'
import { recordEdit, recordIdentityEvents } from '#accounts/app-events/event.ts'
import { addSeconds, maxDate } from '#platform/clock.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deletePictures, isOfThisService, isPictureUrl, removePicture } from '#platform/pictures/picture.ts'
import { defineErrors } from '#platform/api-error.ts'
import { type ActingSession, actingTransaction } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { PasskeySession, SessionSubject } from '#accounts/sessions/session.ts'
import { requireUnmanaged } from './managed.ts'
import { claimHandle, isHeld, isReservedHandle, releaseHandle, reservedUntil } from './handle.ts'
import * as handleStore from './handle-store.ts'
import * as store from './store.ts'
import * as suspensionStore from './suspension-store.ts'
import { isSuspended } from './suspension.ts'
import type { IdentityRow } from './store.ts'

export { lockIdentities, lockIdentitiesOfUser, lockIdentity } from './store.ts'
export type { IdentityRow }

const errors = defineErrors({
  invalid_handle: [400, 'This handle is reserved.'],
  invalid_request: [400, 'displayName must be 1 to 80 visible characters.'],
  identity_not_found: [404, 'No identity of this account has this ID.'],
  identity_suspended: [403, 'An identity of this account is suspended. No identity can be added until it is active.'],
  handle_taken: [409, 'This handle is already in use. Choose another one.'],
  last_identity: [409, 'The last identity cannot be deleted. Delete the account instead.'],
  unauthorized: [401, 'This account has been deleted.'],
  too_many_identities: [409, 'An account can have at most 20 identities.'],
})

const pictureNotUploaded = 'avatarUrl is a URL of this service: upload the picture with PUT .../avatar instead.'
const pictureAddressWrong = 'avatarUrl must be an https URL without user name and password.'

/** Throws `invalid_handle` or `invalid_request` for a handle or display name that is not allowed. */
export function validateIdentity({ handle, displayName }: Partial<NewIdentity>): void {
  if (handle !== undefined && isReservedHandle(handle)) throw errors.invalid_handle()
  if (displayName !== undefined && !isDisplayName(displayName)) throw errors.invalid_request()
}

type NewUser = NewIdentity & { userId: UserId; identityId: IdentityId }

/** Creates a user with a first identity. Throws `handle_taken`. */
export async function createUser(tx: Transaction, person: NewUser, now: Date): Promise<Identity> {
  store.insertUser(tx, person.userId, now)
  return toIdentity(await addIdentity(tx, person, now))
}

/**
 * Locks a user until the transaction ends, so that no other transaction changes the user's data. Replacing a whole set
 * of rows needs this lock, because rows that another transaction inserts are neither visible nor lockable. Throws
 * `unauthorized` if the account was deleted in the meantime.
 */
export async function lockUser(tx: Transaction, userId: UserId): Promise<void> {
  if (!(await store.lockUser(tx, userId))) throw errors.unauthorized()
}

/**
 * Runs a change to a user's data on behalf of a session, with the user locked. The session must still exist at the end.
 * Throws `unauthorized`, or `reauthentication_required` if the authentication was revoked.
 */
export function actingUserTransaction<Result>(
  db: Database,
  session: ActingSession & Pick<PasskeySession, 'userId'>,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return actingTransaction(db, session, async (tx) => {
    await lockUser(tx, session.userId)
    return work(tx)
  })
}

/** Returns the creation time of a user. Throws `unauthorized` if the account was deleted. */
export async function userCreatedAt(db: Database, userId: UserId): Promise<Date> {
  const person = await store.findUser(db, userId)
  if (!person) throw errors.unauthorized()
  return person.createdAt
}

/**
 * Deletes an identity and reserves its handle. The caller deletes the data of other modules in the same transaction.
 * Throws `identity_not_found` or `last_identity`.
 */
export async function removeIdentity(
  tx: Transaction,
  acting: SessionSubject,
  identityId: IdentityId,
  now: Date,
): Promise<void> {
  const { userId } = acting
  await lockUser(tx, userId)
  await lockOwnIdentity(tx, acting, identityId, now)
  // An account with suspended identities only cannot be used.
  if ((await listActiveIdentities(tx, userId, now)).length === 1) throw errors.last_identity()
  if (!(await deleteUnlessLast(tx, { userId, identityId }, now))) throw errors.last_identity()
}

/** Deletes an identity of a locked user, and reserves its handle. Returns false for the last one, which stays. */
export async function deleteUnlessLast(tx: Transaction, key: suspensionStore.Key, now: Date): Promise<boolean> {
  const { userId, identityId } = key
  if (!(await store.decrementIdentityCount(tx, userId))) return false
  await deletePictures(tx, [identityId])
  await suspensionStore.deleteHolds(tx, key)
  await store.deleteIdentities(tx, [identityId], reservedUntil(now))
  return true
}

/**
 * Deletes a user with all identities. Returns the IDs of the identities. Throws `unauthorized` if the user does not
 * exist.
 */
export async function deleteUser(tx: Transaction, userId: UserId, now: Date): Promise<IdentityId[]> {
  await lockUser(tx, userId)
  const identityIds = await store.lockIdentitiesOfUser(tx, userId)
  await deletePictures(tx, identityIds)
  await store.deleteIdentities(tx, identityIds, reservedUntil(now))
  await suspensionStore.deleteHoldsOfUser(tx, userId)
  await store.deleteUser(tx, userId)
  return identityIds
}

/** Adds an identity to the account of a session. Throws as `addToAccount`. */
export async function createIdentity(
  db: Database,
  session: PasskeySession,
  requested: NewIdentity,
  now: Date,
): Promise<Identity> {
  const { userId } = session
  return actingUserTransaction(db, session, async (tx) =>
    toIdentity(await addToAccount(tx, { ...requested, userId }, generateIdentityId(), now)),
  )
}

/**
 * Adds an identity to an account whose user the transaction has locked. Throws `handle_taken`, `invalid_handle`,
 * `invalid_request`, `too_many_identities`, and `identity_suspended` if an identity of the account is suspended.
 */
export async function addToAccount(
  tx: Transaction,
  { userId, ...requested }: NewIdentity & { userId: UserId },
  identityId: IdentityId,
  now: Date,
): Promise<IdentityRow> {
  validateIdentity(requested)
  // Otherwise the user could replace a suspended identity.
  if ((await store.listIdentitiesOfUser(tx, userId)).some((each) => isSuspended(each, now)))
    throw errors.identity_suspended()
  if (!(await store.incrementIdentityCount(tx, userId))) throw errors.too_many_identities()
  const person = { ...requested, userId, identityId }
  const identity = await addIdentity(tx, person, now, await nextInOrder(tx, userId, now))
  await recordAuditEvent(tx, { action: 'identity.created', actor: 'user', userId, identityId }, now)
  return identity
}

/**
 * Returns an instant later than the creation of all other identities of a user. Lists are ordered by it, and the clocks
 * of processes differ slightly.
 */
async function nextInOrder(tx: Transaction, userId: UserId, now: Date): Promise<Date> {
  const latest = (await store.listIdentitiesOfUser(tx, userId)).at(-1)
  return latest ? maxDate(now, addSeconds(latest.createdAt, 0.001)) : now
}

/** Lists the identities of a user in the order of their creation. */
export async function listIdentities(db: Database, userId: UserId): Promise<Identity[]> {
  return (await store.listIdentitiesOfUser(db, userId)).map(toIdentity)
}

/** Lists the identities of a user that are not suspended, in the order of their creation. */
async function listActiveIdentities(db: Database, userId: UserId, now: Date): Promise<Identity[]> {
  const identities = await store.listIdentitiesOfUser(db, userId)
  return identities.filter((identity) => !isSuspended(identity, now)).map(toIdentity)
}

/**
 * Lists the identities that a session can act as: all of the user, or the one that the session is limited to.
 * Suspended ones are missing.
 */
export async function listIdentitiesOfSession(db: Database, acting: SessionSubject, now: Date): Promise<Identity[]> {
  const identities = await listActiveIdentities(db, acting.userId, now)
  return identities.filter(({ identityId }) => canBe(acting, identityId))
}

/**
 * Returns the identity if the session can act as it. Throws `identity_not_found` in all other cases: for identities of
 * other users, for unknown IDs, for identities that the session is not for, and for suspended ones.
 */
export async function requireOwnIdentity(
  db: Database,
  acting: SessionSubject,
  identityId: IdentityId,
  now: Date,
): Promise<IdentityRow> {
  const identity = canBe(acting, identityId) ? await store.findIdentityOfUser(db, acting.userId, identityId) : undefined
  if (!identity || isSuspended(identity, now)) throw errors.identity_not_found()
  return identity
}

/** Like `requireOwnIdentity`, and locks the identity until the transaction ends. Throws `identity_not_found`. */
export async function lockOwnIdentity(
  tx: Transaction,
  acting: SessionSubject,
  identityId: IdentityId,
  now: Date,
): Promise<IdentityRow> {
  const identity = canBe(acting, identityId) ? await store.lockIdentityOfUser(tx, acting.userId, identityId) : undefined
  if (!identity || isSuspended(identity, now)) throw errors.identity_not_found()
  return identity
}

function canBe(acting: SessionSubject, identityId: IdentityId): boolean {
  return acting.authMethod === 'passkey' || acting.identityId === identityId
}

/** Locks an identity of any user, like `lockIdentity`. Returns undefined also if the identity is suspended. */
export async function lockActiveIdentity(
  tx: Transaction,
  identityId: IdentityId,
  now: Date,
): Promise<IdentityRow | undefined> {
  const identity = await store.lockIdentity(tx, identityId)
  return identity && !isSuspended(identity, now) ? identity : undefined
}

/**
 * Locks an identity of any user like a deletion does: its user first. Returns undefined if it does not exist. What also
 * locks an organization does so afterwards.
 */
export async function lockIdentityWithUser(tx: Transaction, identityId: IdentityId): Promise<IdentityRow | undefined> {
  const found = await store.findIdentity(tx, identityId)
  if (!found || !(await store.lockUser(tx, found.userId))) return undefined
  return store.lockIdentity(tx, identityId)
}

/** Records the day on which an identity, which this transaction has locked, authorizes an app: one write a day. */
export function recordSeen(tx: Transaction, { identityId, lastSeenOn }: IdentityRow, now: Date): void {
  const day = now.toISOString().slice(0, 10)
  if (lastSeenOn === null || lastSeenOn < day) store.setLastSeen(tx, identityId, day)
}

/** Finds an identity of any user by its ID. */
export function findIdentity(db: Database, identityId: IdentityId): Promise<IdentityRow | undefined> {
  return store.findIdentity(db, identityId)
}

/**
 * Finds the identity that has this handle, in any letter case. Suspended identities are found as well: otherwise
 * strangers would see which identities are suspended together, and thus belong to one account.
 */
export function findByHandle(db: Database, handle: string) {
  return store.findIdentityOfHandle(db, normalizeHandle(handle))
}

type Change = IdentityChange & { acting: PasskeySession; identityId: IdentityId }

/**
 * Changes the profile fields of an identity. A handle that is replaced stays reserved. Throws `identity_not_found`,
 * `handle_taken`, `invalid_handle`, `invalid_request`, `rate_limited`, and `managed_elsewhere` for names that a
 * directory manages.
 */
export async function updateIdentity(
  { db, rateLimits, config }: ServerContext,
  { acting, identityId, ...change }: Change,
  now: Date,
): Promise<Identity> {
  const { userId } = acting
  const { handle, avatarUrl } = change
  validateIdentity(change)
  if (avatarUrl && !isPictureUrl(avatarUrl)) throw errors.invalid_request({ sentence: pictureAddressWrong })
  const counted = ownKey(acting, now)
  await rateLimits.count('profile-changes-per-user', counted)
  // Each change reserves another handle.
  if (handle !== undefined) await rateLimits.count('handle-changes-per-user', counted)

  return actingTransaction(db, acting, async (tx) => {
    const before = await lockOwnIdentity(tx, acting, identityId, now)
    if (handle !== undefined || change.displayName !== undefined) requireUnmanaged(before)
    if (avatarUrl !== undefined && avatarUrl !== before.avatarUrl) {
      if (avatarUrl !== null && isOfThisService(config.baseUrl, avatarUrl))
        throw errors.invalid_request({ sentence: pictureNotUploaded })
      await removePicture(tx, identityId)
    }
    const after = await changeProfile(tx, before, change, now)
    await recordEdit(tx, { identityId, by: 'self', before, after }, now)
    const action = before.handle === after.handle ? 'identity.updated' : 'identity.handle.updated'
    await recordAuditEvent(tx, { action, actor: 'user', userId, identityId }, now)
    return toIdentity(after)
  })
}

/**
 * Changes the profile fields of an identity that the transaction has locked. A handle that is replaced stays reserved.
 * Throws `handle_taken`.
 */
export async function changeProfile(tx: Transaction, before: IdentityRow, change: IdentityChange, now: Date) {
  if (change.handle !== undefined) await moveHandle(tx, before, change.handle, now)
  return store.updateIdentity(tx, { ...change, identityId: before.identityId }, now)
}

/** Returns the address of an identity if its user has verified it. Only such an address proves something. */
export function verifiedEmailOf({ email, emailVerified }: Pick<Identity, 'email' | 'emailVerified'>): string | null {
  return emailVerified ? email : null
}

async function moveHandle(tx: Transaction, { identityId, handle: old }: IdentityRow, requested: string, now: Date) {
  await claimHandle(tx, requested, identityId, now)
  if (normalizeHandle(old) !== normalizeHandle(requested)) await releaseHandle(tx, old, identityId, now)
}

export function toIdentity(row: IdentityRow): Identity {
  return {
    identityId: row.identityId,
    handle: row.handle,
    displayName: row.displayName,
    avatarUrl: row.avatarUrl,
    email: row.email,
    emailVerified: row.emailVerified,
    createdAt: row.createdAt.toISOString(),
  }
}

/** Generates an ID. It is random: a timestamp in it would tell apps which identities were created together. */
export function generateIdentityId(): IdentityId {
  return asId<IdentityId>(randomUUID())
}

async function addIdentity(tx: Transaction, person: NewUser, now: Date, at = now): Promise<IdentityRow> {
  await claimHandle(tx, person.handle, person.identityId, now)
  const inserted = await store.insertIdentity(tx, person, at)
  if (!inserted) throw errors.handle_taken()
  await recordIdentityEvents(tx, [{ type: 'identity.created', identityId: person.identityId, by: 'self' }], at)
  return inserted
}

/**
 * Finds the identity that has a handle, or for which it is reserved: a thief of a session can change it. Unknown
 * handles cause the same number of queries, so that the response time discloses nothing.
 */
export async function findIdentityByOwnHandle(db: Database, handle: string, now: Date) {
  const found = await handleStore.findHandle(db, normalizeHandle(handle))
  const owner = isHeld(found, now) ? found?.identityId : undefined
  return store.findIdentity(db, owner ?? generateIdentityId())
}
