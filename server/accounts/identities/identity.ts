import { randomUUID } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { foldHandle } from '@countersign/protocol/formats/handle'
import type { Identity, IdentityChange, NewIdentity } from '@countersign/protocol/accounts/identities'
import { laterOf, secondsAfter } from '#platform/clock.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { hasPlainHost } from '#platform/origin.ts'
import { refusals } from '#platform/refusal.ts'
import { actingTransaction, type ActingSession } from '#accounts/sessions/acting.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import type { Acting, Session } from '#accounts/sessions/session.ts'
import { giveUpHandle, isReservedHandle, reservedUntil, takeHandle } from './handle.ts'
import * as store from './store.ts'
import type { IdentityRow } from './store.ts'

export type { IdentityRow }

const refuse = refusals({
  invalid_handle: [400, 'This handle is reserved. Choose another one.'],
  invalid_request: [400, 'A display name has 1 to 80 visible characters.'],
  identity_not_found: [404, 'None of your identities has this id.'],
  last_identity: [409, 'This is your last identity. To remove it, delete the account.'],
  unauthorized: [401, 'This account has been deleted.'],
  too_many_identities: [409, 'A person has at most twenty identities.'],
})

const pictureAddressWrong = 'A picture has an address that begins with https, without a name or password.'

/** Refuses a handle or display name that nobody may have: `invalid_handle`, `invalid_request`. */
export function requireFitting({ handle, displayName }: NewIdentity): void {
  if (isReservedHandle(handle)) throw refuse.invalid_handle()
  if (!isDisplayName(displayName)) throw refuse.invalid_request()
}

type NewPerson = NewIdentity & { userId: string; identityId: string }

/** Begins a person with a first identity. Refuses `handle_taken`. */
export async function beginPerson(tx: Transaction, person: NewPerson, now: Date): Promise<Identity> {
  await store.insertPerson(tx, person.userId, now)
  return toIdentity(await addIdentity(tx, person, now))
}

/**
 * Makes this transaction the only one that changes what a person has, until it ends. What is replaced as a whole needs
 * it: the rows that another transaction is just adding cannot be seen, nor locked. Refuses `unauthorized` where the
 * person has gone meanwhile.
 */
export async function holdPerson(tx: Transaction, userId: string): Promise<void> {
  if (!(await store.lockPerson(tx, userId))) throw refuse.unauthorized()
}

/**
 * Runs what changes something of a person by a session, which is there at its end, and holds the person meanwhile.
 * Refuses `unauthorized`, and `reauthentication_required` where the proof of presence was taken back.
 */
export function actingPersonTransaction<Result>(
  db: Database,
  session: ActingSession & Pick<Session, 'userId'>,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return actingTransaction(db, session, async (tx) => {
    await holdPerson(tx, session.userId)
    return work(tx)
  })
}

/** Since when there is this person. Refuses `unauthorized` where there is none any more. */
export async function personSince(db: Database, userId: string): Promise<Date> {
  const person = await store.findPerson(db, userId)
  if (!person) throw refuse.unauthorized()
  return person.createdAt
}

/**
 * Removes an identity, and reserves its handle. What it has in other rooms is the caller's, in the same transaction.
 * Refuses `identity_not_found`, `last_identity`.
 */
export async function removeIdentity(tx: Transaction, acting: Acting, identityId: string, now: Date): Promise<void> {
  await holdPerson(tx, acting.userId)
  await holdOwnIdentity(tx, acting, identityId)
  if (!(await store.uncountIdentity(tx, acting.userId))) throw refuse.last_identity()
  await store.deleteIdentities(tx, [identityId], reservedUntil(now))
}

/** Removes a person with their identities, and answers which those were. Refuses `unauthorized` the second time. */
export async function removePerson(tx: Transaction, userId: string, now: Date): Promise<string[]> {
  await holdPerson(tx, userId)
  const identityIds = await store.lockIdentitiesOfUser(tx, userId)
  await store.deleteIdentities(tx, identityIds, reservedUntil(now))
  await store.deletePerson(tx, userId)
  return identityIds
}

/** Adds an identity. Refuses `handle_taken`, `invalid_handle`, `invalid_request`, `too_many_identities`. */
export async function createIdentity(
  db: Database,
  session: Session,
  wanted: NewIdentity,
  now: Date,
): Promise<Identity> {
  requireFitting(wanted)
  const { userId } = session
  return actingPersonTransaction(db, session, async (tx) => {
    if (!(await store.countIdentity(tx, userId))) throw refuse.too_many_identities()
    // At random, for a time in it would tell apps which identities were made together.
    const identity = await addIdentity(
      tx,
      { ...wanted, userId, identityId: randomUUID() },
      await nextInOrder(tx, userId, now),
    )
    await record(tx, { action: 'identity.created', actor: 'person', userId, identityId: identity.identityId }, now)
    return toIdentity(identity)
  })
}

/**
 * An instant after that of every other identity of a person, by which they are listed in order: clocks differ a little.
 */
async function nextInOrder(tx: Transaction, userId: string, now: Date): Promise<Date> {
  const latest = (await store.listIdentitiesOfUser(tx, userId)).at(-1)
  return latest ? laterOf(now, secondsAfter(latest.createdAt, 0.001)) : now
}

/** The identities of a person, in the order in which they were made. */
export async function listIdentities(db: Database, userId: string): Promise<Identity[]> {
  return (await store.listIdentitiesOfUser(db, userId)).map(toIdentity)
}

/** The identities as which somebody can act here: all of theirs, or the one that their session is of. */
export async function listActing(db: Database, { userId, identityId: only }: Acting): Promise<Identity[]> {
  const identities = await listIdentities(db, userId)
  return only === null ? identities : identities.filter(({ identityId }) => identityId === only)
}

/**
 * The identity, when whoever acts can act as it. Refuses `identity_not_found` alike for another's and for none, and for
 * one of their own that the session is not of.
 */
export async function requireOwnIdentity(db: Database, acting: Acting, identityId: string): Promise<IdentityRow> {
  const identity = canBe(acting, identityId) ? await store.findIdentityOfUser(db, acting.userId, identityId) : undefined
  if (!identity) throw refuse.identity_not_found()
  return identity
}

/** The same, locked until the transaction ends. Refuses `identity_not_found`. */
export async function holdOwnIdentity(tx: Transaction, acting: Acting, identityId: string): Promise<IdentityRow> {
  const identity = canBe(acting, identityId) ? await store.lockIdentityOfUser(tx, acting.userId, identityId) : undefined
  if (!identity) throw refuse.identity_not_found()
  return identity
}

const canBe = ({ identityId: only }: Acting, identityId: string) => only === null || only === identityId

/** Anybody's identity, locked until the transaction ends; undefined where there is none. */
export function holdIdentity(tx: Transaction, identityId: string): Promise<IdentityRow | undefined> {
  return store.lockIdentity(tx, identityId)
}

/** The identity of this id, whichever user has it; undefined where there is none. */
export function findIdentity(db: Database, identityId: string): Promise<IdentityRow | undefined> {
  return store.findIdentity(db, identityId)
}

/** The identity that has this handle, written in any case. */
export function findByHandle(db: Database, handle: string) {
  return store.findIdentityOfHandle(db, foldHandle(handle))
}

type Change = IdentityChange & { acting: Session; identityId: string }

/**
 * Changes how an identity is shown. A handle that gives way to another stays reserved. Refuses `identity_not_found`,
 * `handle_taken`, `invalid_handle`, `invalid_request`, `rate_limited`.
 */
export async function changeIdentity(
  { db, rateLimits }: Kernel,
  { acting, identityId, ...change }: Change,
  now: Date,
): Promise<Identity> {
  const { userId } = acting
  const { handle, displayName, avatarUrl } = change
  if (handle !== undefined && isReservedHandle(handle)) throw refuse.invalid_handle()
  if (displayName !== undefined && !isDisplayName(displayName)) throw refuse.invalid_request()
  if (avatarUrl && !isPictureAddress(avatarUrl)) throw refuse.invalid_request({ sentence: pictureAddressWrong })
  const counted = ownKey(acting, now)
  await rateLimits.count('profile change of a person', counted)
  // Each change keeps one more handle from everybody else.
  if (handle !== undefined) await rateLimits.count('reserved handle of a person', counted)

  return actingTransaction(db, acting, async (tx) => {
    const before = await holdOwnIdentity(tx, acting, identityId)
    if (handle !== undefined) await moveHandle(tx, before, handle, now)
    const after = await store.updateIdentity(tx, { ...change, identityId }, now)
    const action = before.handle === after.handle ? 'identity.changed' : 'identity.handle_changed'
    await record(tx, { action, actor: 'person', userId, identityId }, now)
    return toIdentity(after)
  })
}

async function moveHandle(tx: Transaction, { identityId, handle: old }: IdentityRow, wanted: string, now: Date) {
  await takeHandle(tx, wanted, identityId, now)
  if (foldHandle(old) !== foldHandle(wanted)) await giveUpHandle(tx, old, identityId, now)
}

/** Whether a picture may be shown from there: https, without a name or password. */
export function isPictureAddress(text: string): boolean {
  const url = URL.parse(text)
  return (
    url?.protocol === 'https:' && hasPlainHost(url) && url.username === '' && url.password === '' && !/\s/.test(text)
  )
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

async function addIdentity(tx: Transaction, person: NewPerson, now: Date): Promise<IdentityRow> {
  await takeHandle(tx, person.handle, person.identityId, now)
  return store.insertIdentity(tx, person, now)
}
