import type { Algorithm } from '@countersign/protocol/clients/apps'
import type { Database, Transaction } from '#platform/database/database.ts'

export type NewKey = {
  algorithm: Algorithm
  version: number
  kid: string
  publicJwk: string
  sealedPrivateKey: string
  createdAt: Date
  signsAt: Date
}

/** Inserts a set of keys, all or none of it; false where a set of that version is there. */
export async function insertKeySet(db: Database | Transaction, keys: NewKey[]): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await db
    .insertInto('token_signing_key')
    .values(
      keys.map((key) => ({
        algorithm: key.algorithm,
        version: key.version,
        kid: key.kid,
        public_jwk: key.publicJwk,
        sealed_private_key: key.sealedPrivateKey,
        created_at: key.createdAt,
        signs_at: key.signsAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['algorithm', 'version']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === BigInt(keys.length)
}

export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number]

/** All keys, the newest first. */
export function listKeys(db: Database) {
  return db
    .selectFrom('token_signing_key')
    .select([
      'algorithm',
      'version',
      'kid',
      'public_jwk as publicJwk',
      'sealed_private_key as sealedPrivateKey',
      'created_at as createdAt',
      'signs_at as signsAt',
    ])
    .orderBy('version', 'desc')
    .orderBy('algorithm')
    .execute()
}

/** The newest set: its version, and since when it signs. */
export function findNewestSet(db: Database) {
  return db
    .selectFrom('token_signing_key')
    .select(['version', 'signs_at as signsAt'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Removes the private halves of the sets before `version`, and says how many there were. */
export async function forgetPrivateHalves(db: Database, version: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('token_signing_key')
    .set({ sealed_private_key: null })
    .where('version', '<', version)
    .where('sealed_private_key', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes the sets before `version`, and says how many keys there were. */
export async function deleteKeySets(db: Database, version: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('token_signing_key')
    .where('version', '<', version)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** The version of the newest set that signed at an instant; before the first it is 0. */
export async function versionSigningAt(db: Database, instant: Date): Promise<number> {
  const found = await db
    .selectFrom('token_signing_key')
    .select('version')
    .where('signs_at', '<=', instant)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.version ?? 0
}
