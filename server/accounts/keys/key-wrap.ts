import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { KeyWrap, NewKeyWrap, PasskeyWrap } from '@countersign/protocol/accounts/keys'
import { actingPersonTransaction, holdPerson } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import type { Session } from '#accounts/sessions/session.ts'
import * as deviceApprovalStore from './device-approval-store.ts'
import * as store from './store.ts'
import type { WrapRow } from './store.ts'

const refuse = refusals({
  invalid_request: [
    400,
    'A passkey_prf wrap names its credential, and no other wrap does; there is one recovery_code wrap.',
  ],
  too_many_key_wraps: [409, 'There are as many wraps of the master key as an account can have.'],
})

/** The wraps of a person's master key. */
export async function listKeyWraps(db: Database | Transaction, userId: string): Promise<KeyWrap[]> {
  return (await store.listWraps(db, userId)).map(toKeyWrap)
}

/** Refuses `invalid_request` for wraps that no browser could use. */
export function requireCoherent(wraps: NewKeyWrap[]): void {
  const credentials = wraps.filter(({ kind }) => kind === 'passkey_prf').map(({ credentialId }) => credentialId)
  const named = wraps.filter(({ credentialId }) => credentialId !== undefined)
  const recoveries = wraps.filter(({ kind }) => kind === 'recovery_code')
  if (named.length !== credentials.length || credentials.includes(undefined)) throw refuse.invalid_request()
  if (new Set(credentials).size !== credentials.length || recoveries.length > 1) throw refuse.invalid_request()
}

/** Keeps the first wraps of a new person. */
export async function keepKeyWraps(tx: Transaction, userId: string, wraps: NewKeyWrap[], now: Date): Promise<void> {
  if (wraps.length > 0)
    await store.insertWraps(
      tx,
      userId,
      wraps.map((wrap) => ({ ...wrap, wrapId: randomUUIDv7() })),
      now,
    )
}

/** Forgets whatever opens the keys of a person who is going: the wraps, the recovery code, devices that were asked. */
export async function forgetPersonKeys(tx: Transaction, userId: string): Promise<void> {
  await store.deleteWraps(tx, userId)
  await store.deleteRecoveryOfUser(tx, userId)
  await deviceApprovalStore.deleteApprovalsOfUser(tx, userId)
}

/** Replaces all wraps of a person by others, at once. */
export async function replaceKeyWraps(
  db: Database,
  session: Session,
  wraps: NewKeyWrap[],
  now: Date,
): Promise<KeyWrap[]> {
  requireCoherent(wraps)
  const { userId } = session
  return actingPersonTransaction(db, session, async (tx) => {
    await store.deleteWraps(tx, userId)
    await keepKeyWraps(tx, userId, wraps, now)
    await record(tx, { action: 'account.key_wraps_replaced', actor: 'person', userId }, now)
    return listKeyWraps(tx, userId)
  })
}

/** Lets one more passkey open a person's keys, where it does not yet or no longer. Refuses `too_many_key_wraps`. */
export async function addKeyWrap(tx: Transaction, userId: string, wrap: PasskeyWrap, now: Date): Promise<KeyWrap> {
  await holdPerson(tx, userId)
  await store.deleteWrapsOfCredential(tx, userId, wrap.credentialId)
  const wraps = await store.listWraps(tx, userId)
  if (wraps.length >= limits.keyWrapsMax) throw refuse.too_many_key_wraps()
  const wrapId = randomUUIDv7()
  await store.insertWraps(tx, userId, [{ ...wrap, wrapId }], now)
  return { ...wrap, wrapId, createdAt: now.toISOString() }
}

/** The same, as an act of its own. */
export async function grantPasskey(db: Database, session: Session, wrap: PasskeyWrap, now: Date): Promise<KeyWrap> {
  const { userId } = session
  return actingPersonTransaction(db, session, async (tx) => {
    const added = await addKeyWrap(tx, userId, wrap, now)
    const details = { credentialId: wrap.credentialId }
    await record(tx, { action: 'account.key_wrap_added', actor: 'person', userId, details }, now)
    return added
  })
}

/** Forgets what a passkey opened. */
export async function forgetKeyWrap(tx: Transaction, userId: string, credentialId: string): Promise<void> {
  await store.deleteWrapsOfCredential(tx, userId, credentialId)
}

function toKeyWrap(row: WrapRow): KeyWrap {
  return {
    wrapId: row.wrapId,
    kind: row.kind,
    ...(row.credentialId !== null && { credentialId: row.credentialId }),
    ciphertext: row.ciphertext,
    createdAt: row.createdAt.toISOString(),
  }
}
