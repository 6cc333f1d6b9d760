/**
 * A browser asks the service several questions in each check. If another browser of the user makes a key in between,
 * its log entry looks like a stranger's. So the check looks once more at everything before it alarms.
 */
import type { AnsweredHistory, AnsweredRecord, NamedKey } from './answers.ts'
import type { CheckResult } from './check.ts'

/** What one look at the service was given, and what it means. */
export type Look = {
  result: CheckResult
  answered: AnsweredRecord
  keys: NamedKey[]
  histories: AnsweredHistory[]
}

/**
 * Returns whether the user may have made the key that alarms, in another browser. A named key that does not open under
 * the master key is never theirs, and alarms without a second look.
 */
export function mayBeOvertaken({ result, keys }: Look): boolean {
  return result.kind === 'alarm' && result.code === 'foreign_key' && keys.every(({ isOwn }) => isOwn)
}

/**
 * Returns whether a second look settles the alarm of the first. It must accept each log entry of the first look at its
 * place, by a record that is not older. So a service cannot take back a foreign key that it has shown.
 */
export function isSettled(first: Look, second: Look): boolean {
  if (second.result.kind === 'alarm') return false
  if (sequenceOf(second.answered) < sequenceOf(first.answered)) return false
  return first.histories.every(({ identityId, pages }) => {
    const found = second.histories.find((each) => each.identityId === identityId)
    const leaves = found ? leavesOf(found.pages) : []
    return leavesOf(pages).every((leaf, place) => leaves[place] === leaf)
  })
}

function sequenceOf(answered: AnsweredRecord): number {
  return answered.kind === 'record' ? answered.record.sequence : 0
}

function leavesOf(pages: AnsweredHistory['pages']): string[] {
  return pages.flatMap(({ events }) => events.map(({ leaf }) => leaf))
}
