import { limits } from '@countersign/protocol/formats/limits'
import type { IdentityId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

const identity = [
  'invited_identity.identity_id as identityId',
  'invited_identity.handle',
  'invited_identity.display_name as displayName',
  'invited_identity.email',
  'invited_identity.group_ids as groupIds',
  'invited_identity.created_at as createdAt',
] as const

export type InvitedRow = NonNullable<Awaited<ReturnType<typeof findInvited>>>

/** Inserts an invited identity, unless there are too many. Returns false then. */
export async function insertInvited(tx: Transaction, row: InvitedRow): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into invited_identity (identity_id, handle, display_name, email, group_ids, created_at)
    select ${row.identityId}::uuid, ${row.handle}, ${row.displayName}, ${row.email}, ${row.groupIds}::uuid[],
      ${row.createdAt}::timestamptz
    where (
      select count(*) from (select from invited_identity limit ${limits.invitedIdentitiesMax}) invited
    ) < ${limits.invitedIdentitiesMax}`.execute(tx)
  return numAffectedRows === 1n
}

export function findInvited(db: Database, identityId: IdentityId) {
  return db.selectFrom('invited_identity').select(identity).where('identity_id', '=', identityId).executeTakeFirst()
}

/** Locks an invited identity until the transaction ends. Returns undefined if it does not exist. */
export function lockInvited(tx: Transaction, identityId: IdentityId) {
  return tx
    .selectFrom('invited_identity')
    .select(identity)
    .where('identity_id', '=', identityId)
    .forUpdate()
    .executeTakeFirst()
}

/** Finds the invited identity of the token of an invitation that can still be used. */
export function findInvitedOfToken(db: Database, tokenSha256: Uint8Array, now: Date) {
  return db
    .selectFrom('invitation')
    .innerJoin('invited_identity', 'invited_identity.identity_id', 'invitation.identity_id')
    .select(identity)
    .where('token_sha256', '=', tokenSha256)
    .where('expires_at', '>', now)
    .whereRef('use_count', '<', 'max_uses')
    .executeTakeFirst()
}

/** Deletes an invited identity: it was accepted, or an operator deletes it. Returns undefined if it does not exist. */
export function deleteInvited(tx: Transaction, identityId: IdentityId) {
  return tx.deleteFrom('invited_identity').where('identity_id', '=', identityId).returning(identity).executeTakeFirst()
}
