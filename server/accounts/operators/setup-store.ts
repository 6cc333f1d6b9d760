import { sql } from 'kysely'
import type { IdentityId } from '@countersign/protocol/ids'
import type { Database, Transaction } from '#platform/database/database.ts'

export async function hasOperator(db: Database): Promise<boolean> {
  return (await db.selectFrom('operator').select('identity_id').limit(1).executeTakeFirst()) !== undefined
}

type Link = { tokenSha256: Uint8Array; expiresAt: Date }

/** Inserts a link, unless there is an operator. Returns false then. */
export async function insertLink(db: Database, { tokenSha256, expiresAt }: Link, now: Date): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into setup_link (token_sha256, created_at, expires_at)
    select ${tokenSha256}::bytea, ${now}::timestamptz, ${expiresAt}::timestamptz
    where not exists (select from operator)`.execute(db)
  return numAffectedRows === 1n
}

export async function linkExists(db: Database, tokenSha256: Uint8Array, now: Date): Promise<boolean> {
  const found = await db
    .selectFrom('setup_link')
    .select('token_sha256')
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .executeTakeFirst()
  return found !== undefined
}

/**
 * Makes an identity the owner by a link that has not expired, unless an operator exists. Returns false then.
 * While the lock is held, no other transaction adds an operator.
 */
export async function insertFirstOwner(
  tx: Transaction,
  { identityId, tokenSha256 }: { identityId: IdentityId; tokenSha256: Uint8Array },
  now: Date,
): Promise<boolean> {
  await sql`lock table operator in share row exclusive mode`.execute(tx)
  const { numAffectedRows } = await sql`
    insert into operator (identity_id, role, granted_at, granted_by)
    select ${identityId}::uuid, 'owner', ${now}::timestamptz, null
    where not exists (select from operator)
      and exists (select from setup_link where token_sha256 = ${tokenSha256} and expires_at > ${now})`.execute(tx)
  return numAffectedRows === 1n
}

export async function deleteLinks(tx: Transaction): Promise<void> {
  await tx.deleteFrom('setup_link').execute()
}

/** Deletes up to `batch` links that have expired. Returns their number. */
export async function deleteExpiredLinks(db: Database, now: Date, batch: number): Promise<number> {
  const expired = db.selectFrom('setup_link').select('token_sha256').where('expires_at', '<=', now).limit(batch)
  const { numDeletedRows } = await db
    .deleteFrom('setup_link')
    .where('token_sha256', 'in', expired)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}
