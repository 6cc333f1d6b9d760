import type { AlarmCode, KeyChange } from '@countersign/protocol/formats/self-record/check'
import type { TrailAlarmCode } from '../acts/trail-check.ts'

/**
 * Reason why the keys cannot be used: a contradiction, also of an organization's trail, a log that could not be read for a day, or a change of a key
 * that the user does not know.
 */
export type KeyAlarmCode = AlarmCode | TrailAlarmCode | 'log_unreachable' | 'unknown_change'

/** Alarm with the evidence as a file; without evidence if the log could not be read. */
export type ShownAlarm = { code: KeyAlarmCode; evidence: string | undefined }
export type { KeyChange }

/** Shows what a check of the keys has found. Each page has one, which its `main.tsx` sets. */
export type KeyNotices = {
  /** Replaces the page by the alarm, once and for all. */
  alarm: (alarm: ShownAlarm) => Promise<void>
  /** Shows changes of keys. Resolves with whether the user knows of them. */
  showChanges: (changes: KeyChange[]) => Promise<boolean>
  /** Says on the page that the keys could not be checked now. */
  note: () => Promise<void>
}

let notices: KeyNotices | undefined

export function setKeyNotices(shown: KeyNotices): void {
  notices = shown
}

/** Returns what shows the results of checks. Throws where a page has none: keys must not be used unchecked. */
export function requireKeyNotices(): KeyNotices {
  if (!notices) throw new Error('This page cannot show what a check of the keys finds')
  return notices
}
