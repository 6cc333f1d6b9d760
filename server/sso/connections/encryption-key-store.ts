import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

type NewKey = { connectionId: string; keyId: string; certificate: string; sealedKey: string }

export async function insertKey(tx: Transaction, inserted: NewKey, now: Date): Promise<void> {
  const { connectionId, keyId, certificate, sealedKey } = inserted
  await tx
    .insertInto('sso_encryption_key')
    .values({ connection_id: connectionId, key_id: keyId, certificate, sealed_key: sealedKey, created_at: now })
    .execute()
}

/** The keys that open what is encrypted to a connection, the newest first: the published one, where there is one. */
export function listOpening(db: Database, connectionId: string, now: Date) {
  return db
    .selectFrom('sso_encryption_key')
    .select(['key_id as keyId', 'sealed_key as sealedKey'])
    .where('connection_id', '=', connectionId)
    .where((where) => where.or([where('ends_at', 'is', null), where('ends_at', '>', now)]))
    .orderBy('created_at', 'desc')
    .execute()
}

/** The certificate (PEM) of the published key of a connection; undefined where none is published. */
export async function findCertificate(db: Database, connectionId: string): Promise<string | undefined> {
  const found = await db
    .selectFrom('sso_encryption_key')
    .select('certificate')
    .where('connection_id', '=', connectionId)
    .where('ends_at', 'is', null)
    .executeTakeFirst()
  return found?.certificate
}

/** Has the published key of a connection be a former one; false where none is published. */
export async function setFormer(tx: Transaction, connectionId: string, endsAt: Date): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('sso_encryption_key')
    .set({ ends_at: endsAt })
    .where('connection_id', '=', connectionId)
    .where('ends_at', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows === 1n
}

/** All sealed keys there are, for who seals them anew. */
export function listSealedKeys(db: Database) {
  return db.selectFrom('sso_encryption_key').select(['key_id as keyId', 'sealed_key as sealedKey']).execute()
}

/** Puts a sealed key in the place of the same one. */
export async function replaceSealedKey(db: Database, keyId: string, earlier: string, sealed: string): Promise<void> {
  await db
    .updateTable('sso_encryption_key')
    .set({ sealed_key: sealed })
    .where('key_id', '=', keyId)
    .where('sealed_key', '=', earlier)
    .execute()
}

/** Deletes up to `batch` keys that open nothing any more, and says how many. */
export async function deleteEndedKeys(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql`
    delete from sso_encryption_key where (connection_id, key_id) in (
      select connection_id, key_id from sso_encryption_key where ends_at <= ${now} limit ${batch}
    ) returning key_id
  `.execute(db)
  return rows.length
}
