import { limits } from '@countersign/protocol/formats/limits'
import { addSeconds } from '#platform/clock.ts'
import { deleteEventsBefore } from '#platform/audit/chain.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { parseStored } from './setting.ts'
import * as store from './store.ts'

const key = 'audit.retentionDays'
const secondsPerDay = 86_400
/** For so long, a shorter retention does not apply: an intruder cannot delete their own traces with it. */
const delayDays = 30

/**
 * Deletes up to `batch` of the oldest events of the audit log that are older than its retention. A shorter retention
 * applies 30 days after it was set. While the clocks of this process and of the database differ, the earlier one
 * counts. Returns the number of deleted events.
 */
export function deleteOldEvents(db: Database, now: Date, batch: number): Promise<number> {
  return deleteEventsBefore(db, (from) => readBorder(from, now), batch)
}

/** Returns the instant before which events are older than the retention. */
async function readBorder(db: Database | Transaction, now: Date): Promise<Date> {
  const time = await store.readEarlierTime(db, now)
  const days = await findLongestRetention(db, addSeconds(time, -delayDays * secondsPerDay))
  return addSeconds(time, -days * secondsPerDay)
}

/** Returns the longest retention that has applied since an instant. */
async function findLongestRetention(db: Database | Transaction, since: Date): Promise<number> {
  const revisions = await store.listRetentions(db, since)
  const days = revisions.map(({ days: stored }) => (stored === null ? limits.retentionDaysDefault : parseDays(stored)))
  const [first] = revisions
  if (!first) return limits.retentionDaysDefault
  // What applied before the first change that is kept.
  if (first.at > since) days.push(first.revision === 1 ? limits.retentionDaysDefault : limits.retentionDaysMax)
  return Math.max(...days)
}

/** A value that this version does not know may be longer than any that it knows. */
function parseDays(stored: unknown): number {
  return parseStored({ [key]: stored })[key] ?? limits.retentionDaysMax
}
