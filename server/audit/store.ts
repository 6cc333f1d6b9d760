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
