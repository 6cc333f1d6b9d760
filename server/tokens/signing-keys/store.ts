import type { Algorithm } from '@countersign/protocol/formats/registries/algorithms'
import type { Database, Transaction } from '#platform/database/database.ts'

export type NewKey = {
  algorithm: Algorithm
  version: number
  kid: string
  publicJwk: string
  sealedPrivateKey: string
  createdAt: Date
  activatesAt: Date
}

/** Inserts a key set completely or not at all. Returns false if a set of that version exists. */
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
        activates_at: key.activatesAt,
      })),
    )
    .onConflict((conflict) => conflict.columns(['algorithm', 'version']).doNothing())
    .executeTakeFirstOrThrow()
  return numInsertedOrUpdatedRows === BigInt(keys.length)
}

export type KeyRow = Awaited<ReturnType<typeof listKeys>>[number]

/** Lists all keys, newest first. */
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
      'activates_at as activatesAt',
    ])
    .orderBy('version', 'desc')
    .orderBy('algorithm')
    .execute()
}

/** Returns the newest key set: its version and the instant at which it begins to sign. */
export function findNewestSet(db: Database) {
  return db
    .selectFrom('token_signing_key')
    .select(['version', 'activates_at as activatesAt'])
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Deletes the private keys of the sets before `version`. Returns their number. */
export async function deletePrivateKeys(db: Database, version: number): Promise<number> {
  const { numUpdatedRows } = await db
    .updateTable('token_signing_key')
    .set({ sealed_private_key: null })
    .where('version', '<', version)
    .where('sealed_private_key', 'is not', null)
    .executeTakeFirstOrThrow()
  return Number(numUpdatedRows)
}

/** Deletes the key sets before `version`. Returns the number of keys. */
export async function deleteKeySets(db: Database, version: number): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('token_signing_key')
    .where('version', '<', version)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Returns the version of the newest set that was signing at an instant, or 0 before the first. */
export async function versionSigningAt(db: Database, instant: Date): Promise<number> {
  const found = await db
    .selectFrom('token_signing_key')
    .select('version')
    .where('activates_at', '<=', instant)
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return found?.version ?? 0
}
