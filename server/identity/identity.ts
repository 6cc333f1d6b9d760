import { randomUUIDv7 } from 'node:crypto'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { foldHandle } from '@countersign/protocol/formats/handle'
import type { Identity, NewIdentity } from '@countersign/protocol/identities'
import { record } from '#kernel/audit.ts'
import { isTaken, transaction, type Database, type Transaction } from '#kernel/database.ts'
import { refusals } from '#kernel/refusal.ts'
import { isReservedHandle } from './handle.ts'
import {
  countIdentity,
  findHandle,
  findIdentityOfUser,
  insertHandle,
  insertIdentity,
  insertPerson,
  listIdentitiesOfUser,
  lockPerson,
  setDisplayName,
  type IdentityRow,
} from './store.ts'

export type { IdentityRow }

const refuse = refusals({
  handle_taken: [409, 'This handle is taken. Choose another one.'],
  invalid_handle: [400, 'This handle is reserved. Choose another one.'],
  invalid_request: [400, 'A display name has 1 to 80 visible characters.'],
  identity_not_found: [404, 'None of your identities has this id.'],
  too_many_identities: [409, 'A person has at most twenty identities.'],
})

/** Refuses a handle or display name that nobody may have: `invalid_handle`, `invalid_request`. */
export function requireFitting({ handle, displayName }: NewIdentity): void {
  if (isReservedHandle(handle)) throw refuse.invalid_handle()
  if (!isDisplayName(displayName)) throw refuse.invalid_request()
}

/** Refuses `handle_taken` where someone has the handle now; who takes it in the end, the insertion decides. */
export async function requireFreeHandle(db: Database, handle: string): Promise<void> {
  if (await findHandle(db, foldHandle(handle))) throw refuse.handle_taken()
}

type NewPerson = NewIdentity & { userId: string; identityId: string }

/** Begins a person with a first identity. Refuses `handle_taken`. */
export async function beginPerson(tx: Transaction, person: NewPerson, now: Date): Promise<Identity> {
  await insertPerson(tx, person.userId, now)
  return toIdentity(await addIdentity(tx, person, now))
}

/**
 * Makes this transaction the only one that changes what a person has, until it ends. What is replaced as a whole needs
 * it: the rows that another transaction is just adding cannot be seen, nor locked.
 */
export async function holdPerson(tx: Transaction, userId: string): Promise<void> {
  await lockPerson(tx, userId)
}

/** Adds an identity. Refuses `handle_taken`, `invalid_handle`, `invalid_request`, `too_many_identities`. */
export async function createIdentity(db: Database, userId: string, wanted: NewIdentity, now: Date): Promise<Identity> {
  requireFitting(wanted)
  return transaction(db, async (tx) => {
    if (!(await countIdentity(tx, userId))) throw refuse.too_many_identities()
    const identity = await addIdentity(tx, { ...wanted, userId, identityId: randomUUIDv7() }, now)
    await record(tx, { action: 'identity.created', actor: 'person', userId, identityId: identity.identityId }, now)
    return toIdentity(identity)
  })
}

/** The identities of a person, in the order in which they were made. */
export async function listIdentities(db: Database, userId: string): Promise<Identity[]> {
  return (await listIdentitiesOfUser(db, userId)).map(toIdentity)
}

/** The identity, when it is one of this person's. Refuses `identity_not_found` alike for another's and for none. */
export async function requireOwnIdentity(db: Database, userId: string, identityId: string): Promise<IdentityRow> {
  const identity = await findIdentityOfUser(db, userId, identityId)
  if (!identity) throw refuse.identity_not_found()
  return identity
}

type Change = { userId: string; identityId: string; displayName: string }

/** Changes the name that is shown. Refuses `identity_not_found`, `invalid_request`. */
export async function changeIdentity(
  db: Database,
  { userId, identityId, displayName }: Change,
  now: Date,
): Promise<Identity> {
  if (!isDisplayName(displayName)) throw refuse.invalid_request()
  return transaction(db, async (tx) => {
    const changed = await setDisplayName(tx, { userId, identityId, displayName }, now)
    if (!changed) throw refuse.identity_not_found()
    await record(tx, { action: 'identity.changed', actor: 'person', userId, identityId }, now)
    return toIdentity(changed)
  })
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
  try {
    await insertHandle(tx, foldHandle(person.handle), person.identityId)
  } catch (error) {
    throw isTaken(error, 'identity_handle_pkey') ? refuse.handle_taken() : error
  }
  return insertIdentity(tx, person, now)
}
