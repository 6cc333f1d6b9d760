import type { Database } from '#kernel/database.ts'

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

type Page = { before?: string | undefined; count?: number | undefined }

/** What was done by a person, and to their identities by others; each of the two as many, the newest. */
export async function listEntriesOfUser(db: Database, userId: string, { before, count }: Page) {
  const entries = db
    .selectFrom('audit_entry')
    .leftJoin('app', 'app.client_id', 'audit_entry.client_id')
    .select([
      'entry_id as entryId',
      'at',
      'action',
      'actor',
      'identity_id as identityId',
      'audit_entry.client_id as clientId',
      'app.name as appName',
    ])
    .select(({ ref }) => ref('details').$castTo<Record<string, unknown>>().as('details'))
    .orderBy('entry_id', 'desc')
    .$if(before !== undefined, (older) => older.where('entry_id', '<', before ?? ''))
    .$if(count !== undefined, (few) => few.limit(count ?? 0))
  const identities = db.selectFrom('identity').select('identity_id').where('user_id', '=', userId)
  const theirs = entries.where('audit_entry.user_id', '=', userId)
  const toTheirs = entries.where('audit_entry.user_id', 'is', null).where('audit_entry.identity_id', 'in', identities)
  return [...(await theirs.execute()), ...(await toTheirs.execute())]
}
