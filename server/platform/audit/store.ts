import { sql, type Selectable } from 'kysely'
import type { Database } from '#platform/database/database.ts'
import type { Tables } from '#platform/database/tables.ts'

/** The newest entries of those that are older than the entry `before`, or of all. */
export function listEntries(db: Database, before: string | undefined, count: number) {
  const entries = db
    .selectFrom('audit_entry')
    .select([
      'entry_id as entryId',
      'at',
      'action',
      'actor',
      'user_id as userId',
      'identity_id as identityId',
      'client_id as clientId',
    ])
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .orderBy('entry_id', 'desc')
    .limit(count)
  return (before === undefined ? entries : entries.where('entry_id', '<', before)).execute()
}

type OfOrganization = { organizationId: string; before?: string | undefined; action?: string | undefined }

/** The newest entries of an organization that are older than the entry `before`: all, or those of one kind of act. */
export function listEntriesOfOrganization(
  db: Database,
  { organizationId, before, action }: OfOrganization,
  count: number,
) {
  return db
    .selectFrom('audit_entry')
    .leftJoin('identity', 'identity.identity_id', 'audit_entry.identity_id')
    .select([
      'entry_id as entryId',
      'at',
      'action',
      'actor',
      'audit_entry.identity_id as identityId',
      'handle',
      'client_id as clientId',
    ])
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .where('organization_id', '=', organizationId)
    .$if(before !== undefined, (older) => older.where('entry_id', '<', before ?? ''))
    .$if(action !== undefined, (some) =>
      some.where(({ eb, or }) => or([eb('action', '=', action ?? ''), eb('action', 'like', `${prefixOf(action)}.%`)])),
    )
    .orderBy('entry_id', 'desc')
    .limit(count)
    .execute()
}

/** The beginning of a name as LIKE takes it literally. */
function prefixOf(action = ''): string {
  return action.replaceAll('_', String.raw`\_`)
}

type Page = { before?: string | undefined; count: number }

type EntryOfUser = {
  entryId: string
  at: Date
  action: string
  actor: Selectable<Tables['audit_entry']>['actor']
  identityId: string | null
  clientId: string | null
  appName: string | null
  details: Record<string, unknown>
}

/** After every id of an entry. */
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

/**
 * What was done by a person, and to their identities by others: `count` entries older than `before`, the newest first.
 * For each identity by itself, since only so does an index have them in their order: a page reads no more than it has.
 */
export async function listEntriesOfUser(db: Database, userId: string, { before = lastId, count }: Page) {
  const { rows } = await sql<EntryOfUser>`
    with entry as (
      (
        select entry_id, at, action, actor, identity_id, client_id, details from audit_entry
        where user_id = ${userId} and entry_id < ${before}
        order by entry_id desc limit ${count}
      ) union all (
        select others.* from identity cross join lateral (
          select entry_id, at, action, actor, identity_id, client_id, details from audit_entry
          where audit_entry.identity_id = identity.identity_id and audit_entry.user_id is null and entry_id < ${before}
          order by entry_id desc limit ${count}
        ) others
        where identity.user_id = ${userId}
      )
    )
    select entry_id as "entryId", at, action, actor, identity_id as "identityId", client_id as "clientId",
      app.name as "appName", details
    from entry left join app using (client_id)
    order by entry_id desc limit ${count}`.execute(db)
  return rows
}
