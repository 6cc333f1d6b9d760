import type { SuspensionScope } from '@countersign/protocol/accounts/suspension'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'

export type SuspensionRow = {
  userId: UserId
  identityId: IdentityId
  scope: SuspensionScope
  reason: string
  suspendedAt: Date
  suspendedUntil: Date | null
}

const suspension = [
  'user_id as userId',
  'identity_id as identityId',
  'scope',
  'reason',
  'suspended_at as suspendedAt',
  'suspended_until as suspendedUntil',
] as const

/** Lists the suspensions of an account that are in force, of the whole account first, the newest first. */
export function listSuspensions(db: Database, userId: UserId, now: Date): Promise<SuspensionRow[]> {
  return db
    .selectFrom('account_suspension')
    .select(suspension)
    .where('user_id', '=', userId)
    .where(({ eb, or }) => or([eb('suspended_until', 'is', null), eb('suspended_until', '>', now)]))
    .orderBy('scope')
    .orderBy('suspended_at', 'desc')
    .execute()
}

export async function upsertSuspension(tx: Transaction, row: SuspensionRow): Promise<void> {
  const changed = {
    scope: row.scope,
    reason: row.reason,
    suspended_at: row.suspendedAt,
    suspended_until: row.suspendedUntil,
  }
  await tx
    .insertInto('account_suspension')
    .values({ user_id: row.userId, identity_id: row.identityId, ...changed })
    .onConflict((conflict) => conflict.columns(['user_id', 'identity_id']).doUpdateSet(changed))
    .execute()
}

type Key = Pick<SuspensionRow, 'userId' | 'identityId'>

export async function deleteSuspension(tx: Transaction, { userId, identityId }: Key): Promise<void> {
  await tx
    .deleteFrom('account_suspension')
    .where('user_id', '=', userId)
    .where('identity_id', '=', identityId)
    .execute()
}

export async function deleteSuspensionsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('account_suspension').where('user_id', '=', userId).execute()
}

/**
 * Writes which identities of a user are suspended and until when, by the suspensions in force, and whether all of them
 * are. The caller holds the locks of the user and of the identities.
 */
export async function applySuspensions(tx: Transaction, userId: UserId, now: Date): Promise<void> {
  await sql`
    update identity set suspended_at = held.since, suspended_until = held.until
    from (
      select each.identity_id, min(own.suspended_at) as since,
        case when bool_and(own.suspended_until is not null) then max(own.suspended_until) end as until
      from identity each left join account_suspension own on own.user_id = ${userId}
        and (own.scope = 'account' or own.identity_id = each.identity_id)
        and (own.suspended_until is null or own.suspended_until > ${now})
      where each.user_id = ${userId} group by each.identity_id
    ) held
    where identity.user_id = ${userId} and identity.identity_id = held.identity_id`.execute(tx)
  await sql`
    update user_account set suspended_at = held.since, suspended_until = held.until
    from (
      select case when bool_and(suspended_at is not null) then max(suspended_at) end as since,
        case when bool_and(suspended_at is not null) then min(suspended_until) end as until
      from identity where user_id = ${userId}
    ) held
    where user_account.user_id = ${userId}`.execute(tx)
}

/** Deletes up to `batch` suspensions that have ended. Returns their number. */
export async function deleteEndedSuspensions(db: Database, now: Date, batch: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with gone as (
      delete from account_suspension where (user_id, identity_id) in (
        select user_id, identity_id from account_suspension where suspended_until <= ${now} limit ${batch}
      ) and suspended_until <= ${now} returning identity_id
    )
    select count(*)::integer as count from gone`.execute(db)
  return rows[0]?.count ?? 0
}
