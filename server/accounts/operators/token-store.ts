import { sql } from 'kysely'
import type { OperatorRole } from '@countersign/protocol/formats/registries/permissions'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'
import { addInterval, replicaOf } from '#platform/database/distributed/engine.ts'

const columns = [
  'token_id as tokenId',
  'name',
  'permissions',
  'networks',
  'admin_token.created_at as createdAt',
  'expires_at as expiresAt',
  'previous_until as previousUntil',
  'last_used_at as lastUsedAt',
  'last_used_address as lastUsedAddress',
  'created_by as createdBy',
] as const

/** Token as stored, without its secrets. */
export type TokenRow = {
  tokenId: string
  name: string
  permissions: string[]
  networks: string[]
  createdAt: Date
  expiresAt: Date
  previousUntil: Date | null
  lastUsedAt: Date | null
  lastUsedAddress: string | null
  createdBy: IdentityId | null
}

export function listTokens(db: Database): Promise<TokenRow[]> {
  return db
    .selectFrom('admin_token')
    .select(columns)
    .orderBy('admin_token.created_at', 'desc')
    .orderBy('token_id')
    .execute()
}

/** Finds the token of a secret, the present or the previous one, with the present role of its creator. */
export function findTokenOfSecret(db: Database, sha256: Uint8Array) {
  return db
    .selectFrom('admin_token')
    .leftJoin('operator', 'operator.identity_id', 'admin_token.created_by')
    .select([...columns, 'token_sha256 as tokenSha256', 'previous_sha256 as previousSha256'])
    .select(({ ref }) => ref('operator.role').$castTo<OperatorRole | null>().as('role'))
    .where(({ eb, or }) => or([eb('token_sha256', '=', sha256), eb('previous_sha256', '=', sha256)]))
    .executeTakeFirst()
}

/** Locks a token against revocation until the transaction ends. Returns false if it was revoked. */
export async function holdToken(tx: Transaction, tokenId: string): Promise<boolean> {
  const { rows } = await sql`
    select token_id from ${replicaOf(tx, 'admin_token')} where token_id = ${tokenId} for share`.execute(tx)
  return rows.length === 1
}

/** Locks a token that has not expired against revocation until the transaction ends. Returns its permissions. */
export async function holdPermissions(tx: Transaction, tokenId: string, now: Date): Promise<string[] | undefined> {
  const { rows } = await sql<{ permissions: string[] }>`
    select permissions from ${replicaOf(tx, 'admin_token')}
    where token_id = ${tokenId} and expires_at > ${now} for share`.execute(tx)
  return rows[0]?.permissions
}

/** Lists the permissions of tokens that have not expired. */
export async function listPermissions(db: Database, tokenIds: string[], now: Date) {
  if (tokenIds.length === 0) return []
  return db
    .selectFrom('admin_token')
    .select(['token_id as tokenId', 'permissions'])
    .where('token_id', 'in', tokenIds)
    .where('expires_at', '>', now)
    .execute()
}

/** Records the use of a token, once an hour. */
export async function touchToken(db: Database, tokenId: string, address: string, hour: Date): Promise<void> {
  await db
    .updateTable('admin_token')
    .set({ last_used_at: hour, last_used_address: address })
    .where('token_id', '=', tokenId)
    .where(({ eb, or }) => or([eb('last_used_at', 'is', null), eb('last_used_at', '<', hour)]))
    .execute()
}

type NewToken = Pick<TokenRow, 'tokenId' | 'name' | 'permissions' | 'networks' | 'expiresAt' | 'createdBy'>

/** Inserts a token, unless there are `max`. The number cannot grow between the count and the commit. */
export async function insertToken(
  tx: Transaction,
  { tokenSha256, ...token }: NewToken & { tokenSha256: Uint8Array },
  { max, now }: { max: number; now: Date },
): Promise<TokenRow | undefined> {
  await sql`lock table admin_token in share row exclusive mode`.execute(tx)
  const { rows } = await sql<{ count: number }>`select count(*)::integer as count from admin_token`.execute(tx)
  if ((rows[0]?.count ?? 0) >= max) return undefined
  return tx
    .insertInto('admin_token')
    .values({
      token_id: token.tokenId,
      name: token.name,
      permissions: token.permissions,
      networks: token.networks,
      token_sha256: tokenSha256,
      created_at: now,
      issued_at: now,
      expires_at: token.expiresAt,
      created_by: token.createdBy,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

type RotatedToken = { tokenSha256: Uint8Array; previousUntil: Date | null; createdBy: IdentityId | null }

/**
 * Replaces the secret of a token, which then expires after its whole lifetime. It belongs to the operator who knows the
 * new secret.
 */
export function rotateToken(
  tx: Transaction,
  tokenId: string,
  { tokenSha256, previousUntil, createdBy }: RotatedToken,
  now: Date,
): Promise<TokenRow | undefined> {
  return tx
    .updateTable('admin_token')
    .set(({ ref }) => ({
      previous_sha256: previousUntil && ref('token_sha256'),
      previous_until: previousUntil && sql<Date>`least(${previousUntil}::timestamptz, expires_at)`,
      token_sha256: tokenSha256,
      expires_at: addInterval(now, sql`(expires_at - issued_at)`),
      issued_at: now,
      created_by: createdBy,
    }))
    .where('token_id', '=', tokenId)
    .returning(columns)
    .executeTakeFirst()
}

export function deleteToken(tx: Transaction, tokenId: string): Promise<{ name: string } | undefined> {
  return tx.deleteFrom('admin_token').where('token_id', '=', tokenId).returning('name').executeTakeFirst()
}

/** Deletes the tokens that operators have created. */
export async function deleteTokensOf(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await tx.deleteFrom('admin_token').where('created_by', 'in', identityIds).execute()
}

/** Lets the tokens of an operator belong to another one, with the rights that they had. Those without any end. */
export async function transferTokens(
  tx: Transaction,
  { from, to, permissions }: { from: IdentityId; to: IdentityId | null; permissions: string[] },
): Promise<void> {
  await sql`
    delete from admin_token where created_by = ${from} and not permissions && ${permissions}::text[]`.execute(tx)
  await sql`
    update admin_token set created_by = ${to}, permissions = array(
      select held from unnest(permissions) held where held = any(${permissions}::text[])
    ) where created_by = ${from}`.execute(tx)
}

/** Deletes up to `batch` tokens that expired before an instant. Returns their number. */
export async function deleteExpiredTokens(db: Database, before: Date, batch: number): Promise<number> {
  const expired = db.selectFrom('admin_token').select('token_id').where('expires_at', '<=', before).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('admin_token')
    .where('token_id', 'in', expired)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Lists the tokens that an operator has created, the newest first. */
export function listTokensOf(db: Database, operatorId: IdentityId): Promise<TokenRow[]> {
  return db
    .selectFrom('admin_token')
    .select(columns)
    .where('created_by', '=', operatorId)
    .orderBy('admin_token.created_at', 'desc')
    .orderBy('token_id')
    .execute()
}
