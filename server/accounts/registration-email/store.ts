import { limits } from '@countersign/protocol/formats/limits'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewVerification = { verificationId: string; email: string; codeMac: Uint8Array; expiresAt: Date }

export async function insertVerification(
  db: Database,
  { verificationId, email, codeMac, expiresAt }: NewVerification,
): Promise<void> {
  const row = { verification_id: verificationId, email, code_mac: codeMac, expires_at: expiresAt }
  await db.insertInto('registration_email').values(row).execute()
}

/**
 * Records an attempt to enter a code. Returns the values to compare it with, or undefined if the code has expired, was
 * entered, or has no attempts left.
 */
export function recordAttempt(tx: Transaction, verificationId: string, now: Date) {
  return tx
    .updateTable('registration_email')
    .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
    .where('verification_id', '=', verificationId)
    .where('proof_sha256', 'is', null)
    .where('attempts', '<', limits.emailCodeTriesMax)
    .where('expires_at', '>', now)
    .returning(['email', 'code_mac as codeMac'])
    .executeTakeFirst()
}

type Proved = { verificationId: string; proofSha256: Uint8Array; expiresAt: Date }

/** Stores the proof that replaces a code, once. Returns false if the code has one. */
export async function insertProof(
  tx: Transaction,
  { verificationId, proofSha256, expiresAt }: Proved,
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('registration_email')
    .set({ proof_sha256: proofSha256, expires_at: expiresAt })
    .where('verification_id', '=', verificationId)
    .where('proof_sha256', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Finds the address that a proof is of. */
export async function findProved(tx: Transaction, proofSha256: Uint8Array, now: Date): Promise<string | undefined> {
  const found = await tx
    .selectFrom('registration_email')
    .select('email')
    .where('proof_sha256', '=', proofSha256)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return found?.email
}

/** Uses a proof, which ends it. Returns its address, or undefined if it expired or was used. */
export async function consumeProof(tx: Transaction, proofSha256: Uint8Array, now: Date): Promise<string | undefined> {
  const used = await tx
    .deleteFrom('registration_email')
    .where('proof_sha256', '=', proofSha256)
    .where('expires_at', '>', now)
    .returning('email')
    .executeTakeFirst()
  return used?.email
}

/** Deletes up to `batch` addresses whose code or proof has expired. Returns their number. */
export async function deleteExpired(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db
    .selectFrom('registration_email')
    .select('verification_id')
    .where('expires_at', '<=', now)
    .limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('registration_email')
    .where('verification_id', 'in', expired)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
