import { settingKeys } from '@countersign/protocol/operations/settings'
import { type Insertable, sql } from 'kysely'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'

/** Finds the revision that applies, or one by its number. Undefined if there is none. */
export function findRevision(db: Database | Transaction, revision?: number) {
  return db
    .selectFrom('setting_revision')
    .select('revision')
    .select(({ ref }) => ref('stored').$castTo<unknown>().as('stored'))
    .$if(revision !== undefined, (one) => one.where('revision', '=', revision ?? 0))
    .orderBy('revision', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Lists the newest revisions, of all or of those before one. */
export function listRevisions(db: Database, before: number | undefined, count: number) {
  return db
    .selectFrom('setting_revision')
    .leftJoin('identity as acting', (join) =>
      join.onRef('acting.identity_id', '=', 'operator_id').on('operator_kind', '=', 'operator'),
    )
    .select([
      'revision',
      'setting_revision.created_at as at',
      'changed_keys as changed',
      'restored_from as restoredFrom',
    ])
    .select(['operator_kind as operatorKind', 'operator_id as operatorId'])
    .select(sql<string | null>`coalesce(operator_name, acting.handle)`.as('operatorName'))
    .select(({ ref }) => ref('stored').$castTo<unknown>().as('stored'))
    .$if(before !== undefined, (older) => older.where('revision', '<', before ?? 0))
    .orderBy('revision', 'desc')
    .limit(count)
    .execute()
}

/**
 * Lists the retention of the audit log in the revisions that have applied since an instant, oldest first: that of then,
 * null for the default, and all after it.
 */
export function listRetentions(db: Database | Transaction, since: Date) {
  return db
    .selectFrom('setting_revision')
    .select(['revision', 'created_at as at'])
    .select(sql`stored -> 'audit.retentionDays'`.as('days'))
    .where(
      'revision',
      '>=',
      // One that another process stored with a slower clock does not end those before it.
      sql<number>`coalesce(
        (select min(revision) - 1 from setting_revision where created_at > ${since}),
        (select max(revision) from setting_revision), 0)`,
    )
    .orderBy('revision')
    .execute()
}

/** Returns an instant, or the present time of the database if that is earlier. */
export async function readEarlierTime(db: Database | Transaction, now: Date): Promise<Date> {
  const { rows } = await sql<{ time: Date }>`select least(${now}::timestamptz, now()) as time`.execute(db)
  return rows[0]?.time ?? now
}

type NewRevision = Omit<Insertable<Tables['setting_revision']>, 'revision'>

/**
 * Inserts the revision after `replaced`, if that one still applies. Returns false otherwise. It keeps settings that
 * this version does not know: during an upgrade, processes of a newer one run, too.
 */
export async function insertRevision(tx: Transaction, replaced: number, row: NewRevision): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into setting_revision (
      revision, created_at, stored, changed_keys, restored_from, operator_kind, operator_id, operator_name
    )
    select ${replaced + 1}::integer, ${row.created_at}::timestamptz,
      coalesce((select stored - ${settingKeys}::text[] from setting_revision where revision = ${replaced}), '{}')
        || ${row.stored}::jsonb,
      ${row.changed_keys}::text[],
      ${row.restored_from ?? null}::integer, ${row.operator_kind}, ${row.operator_id ?? null}::uuid,
      ${row.operator_name ?? null}
    where coalesce((select max(revision) from setting_revision), 0) = ${replaced}
    on conflict do nothing`.execute(tx)
  return numAffectedRows === 1n
}

/** Lists the logos that a revision names. */
export async function listNamedLogos(tx: Transaction): Promise<string[]> {
  const { rows } = await sql<{ logo: string }>`
    select distinct stored ->> 'branding.logo' as logo from setting_revision where stored ? 'branding.logo'`.execute(tx)
  return rows.map(({ logo }) => logo)
}

/** Deletes the revisions up to one. */
export async function deleteRevisions(tx: Transaction, last: number): Promise<void> {
  await tx.deleteFrom('setting_revision').where('revision', '<=', last).execute()
}
