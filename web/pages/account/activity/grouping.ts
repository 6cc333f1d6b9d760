import type { ActivityEntry } from '@countersign/protocol/accounts/account'
import { isSameDay } from '../../../lib/text/dates.ts'

/** Events that follow each other and say the same: the newest one, and how many there are. */
export type ActivityGroup = { entry: ActivityEntry; count: number }
export type ActivityDay = { instant: string; groups: ActivityGroup[] }

/** Actions that a user may repeat many times a day, and that say nothing new then. */
const repeated = ['app.signed_in', 'session.reauthenticated']

/** Sorts events, newest first, into days, and counts repetitions on the same day. */
export function groupByDay(entries: ActivityEntry[]): ActivityDay[] {
  const days: ActivityDay[] = []
  for (const entry of entries) {
    const day = days.at(-1)
    if (!day || !isSameDay(day.instant, entry.at)) {
      days.push({ instant: entry.at, groups: [{ entry, count: 1 }] })
      continue
    }
    const same = day.groups.find((group) => isRepetition(group.entry, entry))
    if (same) same.count += 1
    else day.groups.push({ entry, count: 1 })
  }
  return days
}

function isRepetition(one: ActivityEntry, other: ActivityEntry): boolean {
  return (
    repeated.includes(one.action) &&
    one.action === other.action &&
    one.clientId === other.clientId &&
    one.appName === other.appName &&
    one.identityId === other.identityId &&
    one.device === other.device
  )
}
