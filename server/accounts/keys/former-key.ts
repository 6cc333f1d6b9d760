import { toBase64 } from '@countersign/protocol/formats/base64'
import { limits } from '@countersign/protocol/formats/limits'
import type { FormerCiphertext, NewKeyPair, PasskeyWrap, SelfRecordEntry } from '@countersign/protocol/accounts/keys'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { defineErrors } from '#platform/api-error.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { deleteDeviceApprovals } from './device-approval.ts'
import { parseEncryptionPublicKey } from './encryption-key.ts'
import * as formerStore from './former-key-store.ts'
import { storeKeyWraps } from './key-wrap.ts'
import { storeRecoveryCode } from './recovery-code.ts'
import * as store from './store.ts'

const errors = defineErrors({
  keys_changed: [409, 'The keys of the account are others than those to reset. Read them again.'],
  self_record_changed: [409, 'Another record is stored. Read it, check it, and store its successor.'],
})

/**
 * Keeps ciphertexts of a master key that is being replaced, in case its user finds a way to open it again. The caller
 * deletes or replaces them where they were.
 */
export async function keepFormer(
  tx: Transaction,
  userId: UserId,
  rows: formerStore.FormerRow[],
  now: Date,
): Promise<void> {
  if (rows.length === 0) return
  const deleteAt = addSeconds(now, limits.formerKeysKeptSeconds)
  await formerStore.insertFormer(tx, { userId, deleteAt }, rows, now)
}

/** Lists what is kept of a user's former master keys, oldest first. */
export async function listFormer(db: Database, userId: UserId, now: Date): Promise<FormerCiphertext[]> {
  const rows = await formerStore.listFormer(db, userId, now)
  return rows.map(({ replacedAt, deleteAt, ...row }) => ({
    ...row,
    replacedAt: replacedAt.toISOString(),
    deletedAt: deleteAt.toISOString(),
  }))
}

/** Deletes up to `batch` ciphertexts that have been kept long enough. Returns their number. */
export function pruneFormer(db: Database, now: Date, batch: number): Promise<number> {
  return formerStore.deleteDueFormer(db, now, batch)
}

/** New keys of an account, sealed under a new master key. */
export type NewUserKeys = {
  userId: UserId
  /** Undefined if the passkey has no PRF. */
  keyWrap: PasskeyWrap | undefined
  recoveryCode: { recoveryAuth: string; ciphertext: string }
  selfRecord: SelfRecordEntry
  /** All identities of the account, with the key of each that has one. */
  identities: { identityId: IdentityId; encryptionKey?: NewKeyPair }[]
}

/**
 * Replaces everything that the former master key of a locked account unlocks or seals here, and keeps it. Throws
 * `keys_changed`, `self_record_changed` and `invalid_public_key`.
 */
export async function replaceUserKeys(
  tx: Transaction,
  { userId, keyWrap, recoveryCode, selfRecord, identities }: NewUserKeys,
  now: Date,
): Promise<void> {
  const wraps = await store.listWraps(tx, userId)
  await replaceSelfRecord(tx, userId, selfRecord, now)
  const former = wraps.map(({ kind, credentialId, ciphertext }) => ({ kind, reference: credentialId, ciphertext }))
  await keepFormer(
    tx,
    userId,
    former.map((row) => ({ ...row, identityId: null })),
    now,
  )
  await store.deleteWraps(tx, userId)
  const { recoveryAuth, ciphertext } = recoveryCode
  const wrapOfCode = { kind: 'recovery_code', ciphertext } as const
  storeKeyWraps(tx, userId, [...(keyWrap ? [keyWrap] : []), wrapOfCode], now)
  await storeRecoveryCode(tx, userId, recoveryAuth, now)
  await deleteDeviceApprovals(tx, userId)
  for (const { identityId, encryptionKey } of identities)
    await replaceEncryptionKey(tx, { userId, identityId, encryptionKey }, now)
}

async function replaceSelfRecord(tx: Transaction, userId: UserId, record: SelfRecordEntry, now: Date): Promise<void> {
  const former = await store.findSelfRecord(tx, userId)
  const write = former ? store.updateSelfRecord : store.insertSelfRecord
  if ((!former && record.sequence !== 1) || !(await write(tx, userId, record, now))) throw errors.self_record_changed()
  if (!former) return
  const row = { kind: 'self_record', identityId: null, reference: String(former.sequence) } as const
  await keepFormer(tx, userId, [{ ...row, ciphertext: former.ciphertext }], now)
}

type Replacing = { userId: UserId; identityId: IdentityId; encryptionKey: NewKeyPair | undefined }

async function replaceEncryptionKey(
  tx: Transaction,
  { userId, identityId, encryptionKey }: Replacing,
  now: Date,
): Promise<void> {
  const former = await store.findIdentityKey(tx, identityId)
  if ((former === undefined) !== (encryptionKey === undefined)) throw errors.keys_changed()
  if (!former || !encryptionKey) return
  const { encryptedPrivateKey } = encryptionKey
  const publicKey = parseEncryptionPublicKey(encryptionKey)
  const kept = { kind: 'encryption_key', identityId, reference: toBase64(former.publicKey) } as const
  await keepFormer(tx, userId, [{ ...kept, ciphertext: former.encryptedPrivateKey }], now)
  await store.replaceIdentityKey(tx, { identityId, publicKey, encryptedPrivateKey }, now)
}
