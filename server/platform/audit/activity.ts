import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import type { Database } from '#platform/database/database.ts'
import { readPages } from '#platform/database/pages.ts'
import * as store from './store.ts'

/** Many: where the database knows little of its rows, it sorts a person's for each page. */
const pageEntries = 2000

/** Everything that was done in a person's account, the newest first. */
export function readActivity(db: Database, userId: string): AsyncGenerator<ActivityEntry[]> {
  return readPages<ActivityEntry>(pageEntries, (last, count) =>
    listActivity(db, userId, { before: last?.entryId, count }),
  )
}

/** What was done in a person's account, the newest first: `count` entries older than `before`. */
export async function listActivity(
  db: Database,
  userId: string,
  page: { before?: string | undefined; count: number },
): Promise<ActivityEntry[]> {
  const entries = await store.listEntriesOfUser(db, userId, page)
  return entries.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}
