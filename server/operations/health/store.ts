import { overviewCountMax, type Overview } from '@countersign/protocol/operations/health'
import { sql } from 'kysely'
import type { Database } from '#platform/database/database.ts'

/** Returns the names of the migrations that the database has, and its time. */
export async function readDatabase(db: Database): Promise<{ migrations: string[]; time: Date }> {
  const { rows } = await sql<{ migrations: string[]; time: Date }>`
    select array_agg(name) as migrations, clock_timestamp() as time from schema_migration`.execute(db)
  const [row] = rows
  return { migrations: row?.migrations ?? [], time: row?.time ?? new Date(Number.NaN) }
}

/** Rows that are looked at, those with the longest delay until their next attempt, which failed most. */
const waitingRead = 500

export type Failing = { count: number; since: Date | null }

/** Counts webhooks to which a delivery failed at least twice and waits for its next attempt. `since` is its age. */
export async function findFailingWebhooks(db: Database): Promise<Failing> {
  const { rows } = await sql<Failing>`
    select count(distinct receiver_id)::integer as count, min(created_at) as since from (
      select receiver_id, attempts, created_at from webhook_delivery
      where (next_attempt_at is not null) and ((attempts + 0) >= 0)
      order by next_attempt_at desc limit ${waitingRead}
    ) waiting
    where attempts > 2`.execute(db)
  return rows[0] ?? { count: 0, since: null }
}

/** Counts invitations whose mail failed at least twice and waits for its next attempt, up to a bound. */
export async function findFailingMails(db: Database): Promise<Failing> {
  const { rows } = await sql<Failing>`
    select count(*)::integer as count, min(created_at) as since from (
      select mail_attempts, created_at from invitation
      where mail_at is not null order by mail_at desc limit ${waitingRead}
    ) waiting
    where mail_attempts > 2`.execute(db)
  return rows[0] ?? { count: 0, since: null }
}

/** Returns the time of the first event of the audit log that has no place yet. */
export async function findFirstUnnumbered(db: Database): Promise<Date | undefined> {
  const row = await db
    .selectFrom('audit_event')
    .select('occurred_at as at')
    .where('sequence', 'is', null)
    .orderBy('event_id')
    .limit(1)
    .executeTakeFirst()
  return row?.at
}

/** Counts the sinks to which at least two attempts have failed. `since` is their last delivery, or their creation. */
export async function findFailingSinks(db: Database): Promise<Failing> {
  const { rows } = await sql<Failing>`
    select count(*)::integer as count, min(coalesce(last_delivered_at, created_at)) as since from sink
    where status = 'enabled' and failures > 1`.execute(db)
  return rows[0] ?? { count: 0, since: null }
}

/** Returns since when the newest set of token-signing keys signs, or will. */
export async function findKeysActivated(db: Database): Promise<Date | undefined> {
  const row = await db
    .selectFrom('token_signing_key')
    .select('activates_at as activatesAt')
    .orderBy('version', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.activatesAt
}

/** Returns when all of the last backup was sent. */
export async function findLastBackup(db: Database): Promise<Date | undefined> {
  const { rows } = await sql<{ at: Date }>`
    select occurred_at as at from audit_event where action = 'backup.completed'
    order by occurred_at desc limit 1`.execute(db)
  return rows[0]?.at
}

/** Counts the owners that are not suspended. */
export async function countOwners(db: Database, now: Date): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from operator join identity using (identity_id)
    where role = 'owner' and (suspended_at is null or suspended_until <= ${now})`.execute(db)
  return rows[0]?.count ?? 0
}

/** Counts the admin tokens that expire between two instants. */
export async function countExpiringAdminTokens(db: Database, from: Date, until: Date): Promise<Failing> {
  const { rows } = await sql<Failing>`
    select count(*)::integer as count, min(expires_at) as since from admin_token
    where expires_at > ${from} and expires_at <= ${until}`.execute(db)
  return rows[0] ?? { count: 0, since: null }
}

/** Counts the SCIM tokens that expire between two instants. */
export async function countExpiringScimTokens(db: Database, from: Date, until: Date): Promise<Failing> {
  const { rows } = await sql<Failing>`
    select count(*)::integer as count, min(expires_at) as since from scim_token
    where deleted_at is null and expires_at > ${from} and expires_at <= ${until}`.execute(db)
  return rows[0] ?? { count: 0, since: null }
}

/** Condition on a suspension: operators alone suspend its identity, a directory alone, or this is that of operators. */
const isCounted = sql`(source = 'operator' or not exists (
  select from account_suspension other
  where other.user_id = own.user_id and other.identity_id = own.identity_id and other.source = 'operator'
))`

/** Counts what operators see first, each up to a bound. */
export async function countOverview(db: Database, now: Date): Promise<Overview> {
  const { rows } = await sql<Overview>`
    select
      (select count(*)::integer from (
        select invitation_id from invitation
        where use_count < max_uses and expires_at > ${now} limit ${overviewCountMax}
      ) pending) as "pendingInvitations",
      (select count(*)::integer from (
        select own.identity_id from account_suspension own where suspended_until is null and ${isCounted}
        union all select own.identity_id from account_suspension own where suspended_until > ${now} and ${isCounted}
        limit ${overviewCountMax}
      ) suspended) as "suspendedIdentities",
      (select count(*)::integer from (select client_id from app limit ${overviewCountMax}) registered) as apps,
      (select count(*)::integer from operator) as operators`.execute(db)
  return rows[0] ?? { pendingInvitations: 0, suspendedIdentities: 0, apps: 0, operators: 0 }
}
