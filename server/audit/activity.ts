import type { ActivityEntry } from '@countersign/protocol/account'
import type { Database } from '#kernel/database.ts'
import { listEntriesOfUser } from './store.ts'

/** What was done in a person's account, the newest first: all of it, or `count` entries older than `before`. */
export async function listActivity(
  db: Database,
  userId: string,
  { before, count }: { before?: string | undefined; count?: number | undefined },
): Promise<ActivityEntry[]> {
  const entries = await listEntriesOfUser(db, userId, { before, count })
  const newest = entries.toSorted((a, b) => (a.entryId < b.entryId ? 1 : -1)).slice(0, count)
  return newest.map((entry) => ({ ...entry, at: entry.at.toISOString() }))
}
