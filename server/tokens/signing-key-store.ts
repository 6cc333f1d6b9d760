import type { Algorithm } from '@countersign/protocol/apps'
import type { Database } from '#kernel/database.ts'

type SigningKeyRow = { algorithm: Algorithm; version: number; kid: string; publicJwk: string; sealedPrivateKey: string }

export async function insertSigningKeyUnlessMade(db: Database, key: SigningKeyRow, now: Date): Promise<void> {
  await db
    .insertInto('token_signing_key')
    .values({
      algorithm: key.algorithm,
      version: key.version,
      kid: key.kid,
      public_jwk: key.publicJwk,
      sealed_private_key: key.sealedPrivateKey,
      created_at: now,
    })
    .onConflict((conflict) => conflict.columns(['algorithm', 'version']).doNothing())
    .execute()
}

/** All signing keys, the oldest first. */
export function listSigningKeys(db: Database) {
  return db
    .selectFrom('token_signing_key')
    .select(['algorithm', 'kid', 'public_jwk as publicJwk', 'sealed_private_key as sealedPrivateKey'])
    .orderBy('version')
    .orderBy('algorithm')
    .execute()
}
