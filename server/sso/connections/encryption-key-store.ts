import { sql } from 'kysely'
import { isSealedOtherwise } from '#platform/database/sealed.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewKey = { connectionId: string; keyId: string; certificate: string; sealedKey: string }

export async function insertKey(tx: Transaction, inserted: NewKey, now: Date): Promise<void> {
  const { connectionId, keyId, certificate, sealedKey } = inserted
  await tx
    .insertInto('sso_encryption_key')
    .values({ connection_id: connectionId, key_id: keyId, certificate, sealed_key: sealedKey, created_at: now })
    .execute()
}

/** Lists the keys that decrypt assertions for a connection, newest first. The first is the published one, if any. */
export function listDecryptionKeys(db: Database, connectionId: string, now: Date) {
  return db
    .selectFrom('sso_encryption_key')
    .select(['key_id as keyId', 'sealed_key as sealedKey'])
    .where('connection_id', '=', connectionId)
    .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .execute()
}

/** Finds the certificate (PEM) of the published key of a connection. Returns undefined if none is published. */
export async function findCertificate(db: Database, connectionId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('sso_encryption_key')
    .select('certificate')
    .where('connection_id', '=', connectionId)
    .where('expires_at', 'is', null)
    .executeTakeFirst()
  return found?.certificate
}

/** Retires the published key of a connection. Returns false if none is published. */
export async function retireEncryptionKey(tx: Transaction, connectionId: string, expiresAt: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sso_encryption_key')
    .set({ expires_at: expiresAt })
    .where('connection_id', '=', connectionId)
    .where('expires_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** Lists the keys that are not sealed under the current root key. */
export function listSealedKeys(db: Database, keyring: Keyring) {
  return db
    .selectFrom('sso_encryption_key')
    .select(['key_id as keyId', 'sealed_key as sealedKey'])
    .where(isSealedOtherwise('sealed_key', keyring))
    .execute()
}

/** Replaces a sealed key if it is unchanged. */
export async function replaceSealedKey(db: Database, keyId: string, earlier: string, sealed: string): Promise<void> {
  await db
    .updateTable('sso_encryption_key')
    .set({ sealed_key: sealed })
    .where('key_id', '=', keyId)
    .where('sealed_key', '=', earlier)
    .execute()
}

/** Deletes up to `batch` expired keys, and returns the number. */
export async function deleteEndedKeys(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_encryption_key where (connection_id, key_id) in (
      select connection_id, key_id from sso_encryption_key where expires_at <= ${now} limit ${batch}
    ) returning key_id
  `.execute(db)
  return rows.length
}
