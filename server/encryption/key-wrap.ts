import { randomUUIDv7 } from 'node:crypto'
import type { KeyWrap, NewKeyWrap } from '@countersign/protocol/keys'
import { holdPerson } from '#identity/identity.ts'
import { record } from '#kernel/audit.ts'
import { transaction, type Database, type Transaction } from '#kernel/database.ts'
import { sha256 } from '#kernel/digest.ts'
import { refusals } from '#kernel/refusal.ts'
import { deleteWraps, insertWraps, listWraps, upsertRecovery, type WrapRow } from './store.ts'

const refuse = refusals({
  invalid_request: [
    400,
    'A passkey_prf wrap names its credential, and no other wrap does; there is one recovery_code wrap.',
  ],
})

/** The wraps of a person's master key. */
export async function listKeyWraps(db: Database | Transaction, userId: string): Promise<KeyWrap[]> {
  return (await listWraps(db, userId)).map(toKeyWrap)
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
    await insertWraps(
      tx,
      userId,
      wraps.map((wrap) => ({ ...wrap, wrapId: randomUUIDv7() })),
      now,
    )
}

/** Replaces all wraps of a person by others, at once. */
export async function replaceKeyWraps(
  db: Database,
  userId: string,
  wraps: NewKeyWrap[],
  now: Date,
): Promise<KeyWrap[]> {
  requireCoherent(wraps)
  return transaction(db, async (tx) => {
    await holdPerson(tx, userId)
    await deleteWraps(tx, userId)
    await keepKeyWraps(tx, userId, wraps, now)
    await record(tx, { action: 'account.key_wraps_replaced', actor: 'person', userId }, now)
    return listKeyWraps(tx, userId)
  })
}

/** Keeps what the server may check of a recovery code: a hash of what the code derives, which opens nothing. */
export async function keepRecovery(tx: Transaction, userId: string, recoveryAuth: string, now: Date): Promise<void> {
  await upsertRecovery(tx, userId, sha256(Buffer.from(recoveryAuth, 'base64url')), now)
}

type NewRecovery = { recoveryAuth: string; ciphertext: string }

/** Replaces a person's recovery code: its wrap and its check together, so that no half of the old one is left. */
export async function replaceRecovery(
  db: Database,
  userId: string,
  recovery: NewRecovery,
  now: Date,
): Promise<KeyWrap[]> {
  return transaction(db, async (tx) => {
    await holdPerson(tx, userId)
    await keepRecovery(tx, userId, recovery.recoveryAuth, now)
    await deleteWraps(tx, userId, 'recovery_code')
    await keepKeyWraps(tx, userId, [{ kind: 'recovery_code', ciphertext: recovery.ciphertext }], now)
    await record(tx, { action: 'account.recovery_replaced', actor: 'person', userId }, now)
    return listKeyWraps(tx, userId)
  })
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
