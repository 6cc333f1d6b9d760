import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { addInterval, replicaOf } from '#platform/database/distributed/engine.ts'

const columns = [
  'token_id as tokenId',
  'name',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'last_used_at as lastUsedAt',
  'created_by as createdBy',
] as const

export type TokenRow = Awaited<ReturnType<typeof listTokens>>[number]

export function listTokens(db: Database) {
  return db
    .selectFrom('scim_token')
    .select(columns)
    .where('deleted_at', 'is', null)
    .orderBy('created_at', 'desc')
    .orderBy('token_id')
    .execute()
}

export function findTokenOfSecret(db: Database, sha256: Uint8Array) {
  return (
    db
      .selectFrom('scim_token')
      .select([...columns, 'token_sha256 as tokenSha256'])
      .where('token_sha256', '=', sha256)
      .where('deleted_at', 'is', null)
      // An operator who was removed and added again has not issued it by the present rights.
      .where(
        sql<boolean>`(created_by is null or exists (
        select from operator where operator.identity_id = created_by and granted_at <= issued_at
      ))`,
      )
      .executeTakeFirst()
  )
}

/** Voids the secrets of tokens that operators have issued. Another operator can rotate these tokens. */
export async function voidTokensOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx
    .updateTable('scim_token')
    .set({ token_sha256: sql`sha256(${randomBytes(32)}::bytea || uuid_send(token_id))` })
    .where('created_by', 'in', identityIds)
    .execute()
}

/** Locks a token against rotation and deletion until the transaction ends. Returns false if its secret has changed. */
export async function holdToken(tx: Transaction, tokenSha256: Uint8Array): Promise<boolean> {
  const { rows } = await sql`
    select token_id from ${replicaOf(tx, 'scim_token')}
    where token_sha256 = ${tokenSha256} and deleted_at is null for share`.execute(tx)
  return rows.length === 1
}

/** Records the use of a token, once an hour. */
export async function touchToken(db: Database, tokenId: string, hour: Date): Promise<void> {
  await db
    .updateTable('scim_token')
    .set({ last_used_at: hour })
    .where('token_id', '=', tokenId)
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', hour)]))
    .execute()
}

type NewToken = {
  tokenId: string
  name: string
  tokenSha256: Uint8Array
  expiresAt: Date
  createdBy: IdentityId | null
}

/** Inserts a token, unless there are `max`. The number cannot grow between the count and the commit. */
export async function insertToken(
  tx: Transaction,
  token: NewToken,
  { max, now }: { max: number; now: Date },
): Promise<TokenRow | undefined> {
  await sql`lock table scim_token in share row exclusive mode`.execute(tx)
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from scim_token where deleted_at is null`.execute(tx)
  if ((rows[0]?.count ?? 0) >= max) return undefined
  return tx
    .insertInto('scim_token')
    .values({
      token_id: token.tokenId,
      name: token.name,
      token_sha256: token.tokenSha256,
      created_at: now,
      issued_at: now,
      expires_at: token.expiresAt,
      created_by: token.createdBy,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

type Rotated = { tokenSha256: Uint8Array; createdBy: IdentityId | null }

/** Replaces the secret of a token, which then expires after its whole lifetime and belongs to the caller. */
export function rotateToken(tx: Transaction, tokenId: string, { tokenSha256, createdBy }: Rotated, now: Date) {
  return tx
    .updateTable('scim_token')
    .set({
      token_sha256: tokenSha256,
      expires_at: addInterval(now, sql`(expires_at - issued_at)`),
      issued_at: now,
      created_by: createdBy,
    })
    .where('token_id', '=', tokenId)
    .where('deleted_at', 'is', null)
    .returning(columns)
    .executeTakeFirst()
}

/** Marks a token as deleted. From now on no request is accepted with it. */
export function markDeleted(tx: Transaction, tokenId: string, now: Date): Promise<{ name: string } | undefined> {
  return tx
    .updateTable('scim_token')
    .set({ deleted_at: now })
    .where('token_id', '=', tokenId)
    .where('deleted_at', 'is', null)
    .returning('name')
    .executeTakeFirst()
}

/** Locks a deleted token whose users and groups may not be released yet. Leaves out those of other processes. */
export function lockDeleted(tx: Transaction) {
  return tx
    .selectFrom('scim_token')
    .select('token_id as tokenId')
    .where('deleted_at', 'is not', null)
    .orderBy('token_id')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst()
}

export async function deleteToken(tx: Transaction, tokenId: string): Promise<void> {
  await tx.deleteFrom('scim_token').where('token_id', '=', tokenId).execute()
}
