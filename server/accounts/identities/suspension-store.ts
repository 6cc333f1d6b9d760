import type { SuspensionScope } from '@countersign/protocol/accounts/suspension'
import type { IdentityId, UserId } from '@countersign/protocol/ids'
import { sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import { lockUnlocked } from '#platform/database/distributed/engine.ts'

export type SuspensionRow = {
  userId: UserId
  identityId: IdentityId
  /** Who suspends: `operator`, or `scim:` and the ID of a SCIM token. */
  source: string
  scope: SuspensionScope
  reason: string
  suspendedAt: Date
  suspendedUntil: Date | null
}

const suspension = [
  'user_id as userId',
  'identity_id as identityId',
  'source',
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

type Hold = Pick<SuspensionRow, 'identityId' | 'reason' | 'suspendedUntil'>

/** Lists why identities of a user are suspended: their suspensions in force, and then their scheduled deletions. */
export async function listHolds(db: Database, userId: UserId, now: Date): Promise<Hold[]> {
  const deletions = await db
    .selectFrom('identity_deletion')
    .select(['identity_id as identityId', 'reason'])
    .where('user_id', '=', userId)
    .orderBy('scheduled_at', 'desc')
    .execute()
  const scheduled = deletions.map((deletion) => ({ ...deletion, suspendedUntil: null }))
  return [...(await listSuspensions(db, userId, now)), ...scheduled]
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
    .values({ user_id: row.userId, identity_id: row.identityId, source: row.source, ...changed })
    .onConflict((conflict) => conflict.columns(['user_id', 'identity_id', 'source']).doUpdateSet(changed))
    .execute()
}

export type Key = Pick<SuspensionRow, 'userId' | 'identityId'>

export async function deleteSuspension(
  tx: Transaction,
  { userId, identityId, source }: Key & { source: string },
): Promise<void> {
  await tx
    .deleteFrom('account_suspension')
    .where('user_id', '=', userId)
    .where('identity_id', '=', identityId)
    .where('source', '=', source)
    .execute()
}

/** Lists which of the identities a source suspends. */
export async function listSuspendedBy(
  tx: Transaction,
  identityIds: IdentityId[],
  source: string,
): Promise<IdentityId[]> {
  if (identityIds.length === 0) return []
  // By way of the identities, because the key of a suspension begins with the user.
  const { rows } = await sql<{ identityId: IdentityId }>`
    select identity.identity_id as "identityId" from identity join account_suspension own using (user_id, identity_id)
    where identity.identity_id = any(${identityIds}::uuid[]) and own.identity_id = any(${identityIds}::uuid[])
      and own.source = ${source}
    order by identity.identity_id`.execute(tx)
  return rows.map(({ identityId }) => identityId)
}

/** Deletes the suspensions and the scheduled deletion of an identity. */
export async function deleteHolds(tx: Transaction, key: Key): Promise<void> {
  await tx
    .deleteFrom('account_suspension')
    .where('user_id', '=', key.userId)
    .where('identity_id', '=', key.identityId)
    .execute()
  await deleteDeletion(tx, key)
}

export async function deleteHoldsOfUser(tx: Transaction, userId: UserId): Promise<void> {
  await tx.deleteFrom('account_suspension').where('user_id', '=', userId).execute()
  await tx.deleteFrom('identity_deletion').where('user_id', '=', userId).execute()
}

export type DeletionRow = Key & { reason: string; scheduledAt: Date; dueAt: Date }

export function findDeletion(tx: Transaction, { userId, identityId }: Key): Promise<DeletionRow | undefined> {
  return tx
    .selectFrom('identity_deletion')
    .select([
      'user_id as userId',
      'identity_id as identityId',
      'reason',
      'scheduled_at as scheduledAt',
      'due_at as dueAt',
    ])
    .where('user_id', '=', userId)
    .where('identity_id', '=', identityId)
    .executeTakeFirst()
}

export async function insertDeletion(tx: Transaction, row: DeletionRow): Promise<void> {
  await tx
    .insertInto('identity_deletion')
    .values({
      user_id: row.userId,
      identity_id: row.identityId,
      reason: row.reason,
      scheduled_at: row.scheduledAt,
      due_at: row.dueAt,
      attempt_at: row.dueAt,
    })
    .execute()
}

export async function deleteDeletion(tx: Transaction, { userId, identityId }: Key): Promise<void> {
  await tx.deleteFrom('identity_deletion').where('user_id', '=', userId).where('identity_id', '=', identityId).execute()
}

/** Leases up to `batch` deletions that are due until an instant, the longest due first. */
export async function leaseDueDeletions(
  db: Database,
  { now, until, batch }: { now: Date; until: Date; batch: number },
): Promise<Key[]> {
  const { rows } = await sql<Key>`
    update identity_deletion set attempt_at = ${until}
    where (user_id, identity_id) in (
      select user_id, identity_id from identity_deletion where attempt_at <= ${now}
      order by attempt_at limit ${batch} ${lockUnlocked(db)}
    )
    returning user_id as "userId", identity_id as "identityId"`.execute(db)
  return rows
}

/** Records when to attempt a refused deletion again. Returns false if it was refused for the same reason before. */
export async function recordRefusal(
  tx: Transaction,
  { userId, identityId }: Key,
  { refusal, attemptAt }: { refusal: string; attemptAt: Date },
): Promise<boolean> {
  const { rows } = await sql<{ isNew: boolean }>`
    update identity_deletion deletion set attempt_at = ${attemptAt}, refusal = ${refusal}
    from (
      select refusal from identity_deletion where user_id = ${userId} and identity_id = ${identityId} for update
    ) before
    where deletion.user_id = ${userId} and deletion.identity_id = ${identityId}
    returning before.refusal is distinct from ${refusal}::text as "isNew"`.execute(tx)
  return rows[0]?.isNew ?? false
}

type Acted = { userId: UserId; identityId?: IdentityId | undefined }

/**
 * Writes which identities of a user are suspended and until when, by the suspensions in force and the scheduled
 * deletions, and whether all of them are. The identity of the act gets a new version. Those with another state get a
 * new sequence of their events, and keep the version that operators see. The caller holds the locks of the user and of
 * the identities.
 */
export async function applySuspensions(tx: Transaction, { userId, identityId }: Acted, now: Date): Promise<void> {
  const isActedOn = sql`identity.identity_id is not distinct from ${identityId ?? null}::uuid`
  const isChanged = sql`(suspended_at is null) <> (held.since is null)`
  await sql`
    update identity set suspended_at = held.since, suspended_until = held.until,
      version = version + case when ${isActedOn} or ${isChanged} then 1 else 0 end,
      account_change_count = account_change_count + case when not ${isActedOn} and ${isChanged} then 1 else 0 end
    from (
      select each.identity_id, min(own.suspended_at) as since,
        case when bool_and(own.suspended_until is not null) then max(own.suspended_until) end as until
      from identity each left join (
        select identity_id, scope, suspended_at, suspended_until from account_suspension
        where user_id = ${userId} and (suspended_until is null or suspended_until > ${now})
        union all select identity_id, 'identity', scheduled_at, null from identity_deletion where user_id = ${userId}
      ) own on own.scope = 'account' or own.identity_id = each.identity_id
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

/**
 * Deletes suspensions that have ended, about `batch`. Returns their number and the identities that are active by it.
 * An identity gets a new version by the end of each suspension through it, whether others still suspend it or not.
 * Leaves out the accounts on which another transaction acts.
 */
export async function deleteEndedSuspensions(tx: Transaction, now: Date, batch: number) {
  const { rows } = await sql<{ count: number; activated: IdentityId[] }>`
    with held as materialized (
      select user_id from user_account where user_id = any(array(
        select user_id from account_suspension where suspended_until <= ${now} limit ${batch}
      )) ${lockUnlocked(tx)}
    ), gone as (
      delete from account_suspension using held
      where account_suspension.user_id = held.user_id and suspended_until <= ${now}
      returning account_suspension.user_id, account_suspension.identity_id
    ), ended as materialized (
      select identity_id, suspended_until is not null and suspended_until <= ${now} as is_activated,
        identity_id in (select identity_id from gone) as is_own
      from identity where user_id in (select user_id from gone)
    ), changed as (
      update identity set suspended_at = case when not is_activated then suspended_at end,
        suspended_until = case when not is_activated then suspended_until end,
        version = version + 1, account_change_count = account_change_count + case when is_own then 0 else 1 end
      from ended where identity.identity_id = ended.identity_id and (is_activated or is_own)
      returning identity.identity_id, is_activated
    )
    select (select count(*)::integer from gone) as count,
      array(select identity_id from changed where is_activated) as activated`.execute(tx)
  return rows[0] ?? { count: 0, activated: [] }
}
