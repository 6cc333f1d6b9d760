import type { EventActor } from '@countersign/protocol/clients/webhook-events'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { type IdentityEvent, recordIdentityEvents } from '#accounts/app-events/event.ts'
import { type ApiError, defineErrors } from '#platform/api-error.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import * as store from './store.ts'
import * as suspensionStore from './suspension-store.ts'
import type { DeletionRow, Key, SuspensionRow } from './suspension-store.ts'

export type { DeletionRow, SuspensionRow }
export { findDeletion, leaseDueDeletions, recordRefusal } from './suspension-store.ts'

const errors = defineErrors({
  account_suspended: [403, 'The operator has suspended this account.'],
  unauthorized: [401, 'This account has been deleted.'],
})

/** Columns of an identity or of a user that tell of a suspension. */
type Suspendable = { suspendedAt: Date | null; suspendedUntil: Date | null }

/** Checks if an identity, or every identity of a user, is suspended at an instant. */
export function isSuspended({ suspendedAt, suspendedUntil }: Suspendable, now: Date): boolean {
  return suspendedAt !== null && (suspendedUntil === null || suspendedUntil > now)
}

/** Checks if an identity exists and is suspended. */
export async function isSuspendedIdentity(db: Database, identityId: IdentityId, now: Date): Promise<boolean> {
  const identity = await store.findIdentity(db, identityId)
  return identity !== undefined && isSuspended(identity, now)
}

type Suspended = { userId: UserId; identityId?: IdentityId }

/**
 * Returns the error for the user of a suspended account, with the reason. Call it only for someone who has proved to be
 * that user: strangers do not learn of suspensions. With `identityId`, for a sign-in by an organization, it has no
 * reason but that of this identity: the organization could read that of a sibling.
 */
export async function accountSuspended(db: Database, { userId, identityId }: Suspended, now: Date): Promise<ApiError> {
  const rows = await suspensionStore.listHolds(db, userId, now)
  const shown = identityId === undefined ? rows[0] : rows.find((row) => row.identityId === identityId)
  if (!shown) return errors.account_suspended()
  const { reason, suspendedUntil } = shown
  return errors.account_suspended({ fields: { reason, until: suspendedUntil?.toISOString() ?? null } })
}

/**
 * Locks a user until the transaction ends, for what begins a session. A suspension waits for the commit and then ends
 * it. Throws `unauthorized` if the account was deleted, and `account_suspended` if all of its identities are suspended.
 */
export async function lockActiveUser(tx: Transaction, userId: UserId, now: Date): Promise<void> {
  const user = await store.lockUser(tx, userId)
  if (!user) throw errors.unauthorized()
  if (isSuspended(user, now)) throw await accountSuspended(tx, { userId }, now)
}

/** Throws `account_suspended` if all identities of a user are suspended. */
export async function requireNotSuspended(db: Database, userId: UserId, now: Date): Promise<void> {
  const user = await store.findUser(db, userId)
  if (user && isSuspended(user, now)) throw await accountSuspended(db, { userId }, now)
}

/**
 * Locks an account by one of its identities until the transaction ends, like a deletion: the user, then the identities.
 * Returns the user and the IDs of all identities, or undefined if the identity does not exist.
 */
export async function lockAccountOfIdentity(tx: Transaction, identityId: IdentityId) {
  const found = await store.findIdentity(tx, identityId)
  if (!found || !(await store.lockUser(tx, found.userId))) return undefined
  const identityIds = await store.lockIdentitiesOfUser(tx, found.userId)
  return identityIds.includes(identityId) ? { userId: found.userId, identityIds } : undefined
}

/** Lists the suspensions through this identity that are in force, one for each source. */
export async function listSuspensions(
  tx: Transaction,
  { userId, identityId }: Key,
  now: Date,
): Promise<SuspensionRow[]> {
  const rows = await suspensionStore.listSuspensions(tx, userId, now)
  return rows.filter((row) => row.identityId === identityId)
}

/** Checks if a suspension through this identity is in force that suspends the whole account. */
export async function suspendsAccount(tx: Transaction, key: Key, now: Date): Promise<boolean> {
  return (await listSuspensions(tx, key, now)).some(({ scope }) => scope === 'account')
}

/**
 * Records a suspension in an account that this transaction has locked. Returns the identities that are suspended now,
 * and whether no other is left.
 */
export async function recordSuspension(tx: Transaction, row: SuspensionRow, now: Date) {
  await suspensionStore.upsertSuspension(tx, row)
  return apply(tx, { ...row, by: actorOf(row) }, now)
}

/** Removes the suspension of a source through an identity, in an account that this transaction has locked. */
export async function removeSuspension(tx: Transaction, row: Key & { source: string }, now: Date): Promise<void> {
  await suspensionStore.deleteSuspension(tx, row)
  await apply(tx, { ...row, by: actorOf(row) }, now)
}

/**
 * Lets the suspensions of a source be those of operators, together with what these have decided: the wider and the
 * longer one applies. Locks the accounts of the identities.
 */
export async function releaseSuspensions(
  tx: Transaction,
  { identityIds, source }: { identityIds: IdentityId[]; source: string },
  now: Date,
): Promise<void> {
  for (const identityId of await suspensionStore.listSuspendedBy(tx, identityIds, source)) {
    const account = await lockAccountOfIdentity(tx, identityId)
    if (!account) continue
    const { userId } = account
    const own = await listSuspensions(tx, { userId, identityId }, now)
    const released = own.find((each) => each.source === source)
    await suspensionStore.deleteSuspension(tx, { userId, identityId, source })
    if (!released) continue
    const kept = own.find((each) => each.source === 'operator')
    const isWhole = released.scope === 'account' || kept?.scope === 'account'
    await suspensionStore.upsertSuspension(tx, {
      ...{ ...released, ...(kept && { reason: kept.reason, suspendedAt: kept.suspendedAt }) },
      ...{ source: 'operator', scope: isWhole ? 'account' : 'identity', suspendedUntil: released.suspendedUntil },
    })
    await apply(tx, { userId, by: 'system' }, now)
  }
}

/** Returns who suspends: operators are one source, and each directory is another. */
function actorOf({ source }: { source: string }): EventActor {
  return source === 'operator' ? 'operator' : 'scim'
}

/** Records the scheduled deletion of an identity in a locked account. Returns like `recordSuspension`. */
export async function recordDeletion(tx: Transaction, row: DeletionRow, by: EventActor, now: Date) {
  await suspensionStore.insertDeletion(tx, row)
  const { identityId, dueAt: until } = row
  const event = { type: 'identity.deletion_scheduled', identityId, by, until } as const
  return apply(tx, { ...row, by, events: [event] }, now)
}

/** Removes the scheduled deletion of an identity, in an account that this transaction has locked. */
export async function removeDeletion(tx: Transaction, row: Key, now: Date): Promise<void> {
  await suspensionStore.deleteDeletion(tx, row)
  const event = { type: 'identity.restored', identityId: row.identityId, by: 'operator' } as const
  await apply(tx, { ...row, by: 'operator', events: [event] }, now)
}

/**
 * Applies the suspensions that remain after one of the identities of a locked account was deleted. Returns like
 * `recordSuspension`.
 */
export async function applyRemaining(tx: Transaction, remaining: Act, now: Date) {
  const identities = await store.listIdentitiesOfUser(tx, remaining.userId)
  if (identities.every(({ suspendedAt }) => suspendedAt === null)) return { identityIds: [], all: false }
  return apply(tx, remaining, now)
}

type Act = { userId: UserId; by: EventActor }
/** An act on an identity, with what apps learn of it besides whether the identity is suspended. */
type ActOnIdentity = Act & { identityId?: IdentityId; events?: IdentityEvent[] }

/**
 * Applies the suspensions and scheduled deletions of a locked account. For each identity that is suspended or active
 * now and was not, the apps get an event. A suspension that has ended counts before as long as they have not got its
 * event.
 */
async function apply(tx: Transaction, { userId, identityId, by, events = [] }: ActOnIdentity, now: Date) {
  const before = (await store.listIdentitiesOfUser(tx, userId)).filter(({ suspendedAt }) => suspendedAt !== null)
  await suspensionStore.applySuspensions(tx, { userId, identityId }, now)
  const identities = await store.listIdentitiesOfUser(tx, userId)
  const suspended = identities.filter((identity) => isSuspended(identity, now))
  const identityIds = suspended.map((identity) => identity.identityId)
  const known = before.map((identity) => identity.identityId)
  const begun = identityIds.filter((each) => !known.includes(each))
  const ended = known.filter((each) => !identityIds.includes(each))
  // A directory that is named to the apps of another identity would tell that it manages one of the same account.
  const actorOn = (each: IdentityId) => (each !== identityId && by === 'scim' ? 'operator' : by)
  const changes = [
    ...begun.map((each) => ({ type: 'identity.suspended', identityId: each, by: actorOn(each) }) as const),
    ...ended.map((each) => ({ type: 'identity.activated', identityId: each, by: actorOn(each) }) as const),
  ]
  await recordIdentityEvents(tx, [...events, ...changes], now)
  return { identityIds, all: suspended.length === identities.length }
}

/**
 * Deletes suspensions that have ended, about `batch`, and records for apps which identities are active now. Returns the
 * number of suspensions.
 */
export function pruneSuspensions(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const { count, activated } = await suspensionStore.deleteEndedSuspensions(tx, now, batch)
    const events = activated.map((identityId) => ({ type: 'identity.activated', identityId, by: 'system' }) as const)
    await recordIdentityEvents(tx, events, now)
    return count
  })
}
