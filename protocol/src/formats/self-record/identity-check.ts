/** Part of the self-check that concerns one identity: its history in the log, and the key that the service names. */
import { pageLimits } from '../registries/page-limits.ts'
import { findPromiseError } from '../signing/inclusion-promise.ts'
import type { NoteKey, NoteSuite } from '../signing/checkpoint.ts'
import { hashKeyEvent, isOfNewKey, readKeyEvent, type KeyEvent } from '../signing/key-event.ts'
import { readKeyHistory, type KeyHistory, type KeyHistoryError } from '../signing/key-history.ts'
import { verifyKeyInclusion } from '../signing/key-inclusion.ts'
import type { AnsweredHistory, LoggedLeaf, NamedKey, RememberedIdentity } from './answers.ts'
import type { Evidence } from './evidence.ts'
import type { IdentityEntry, PendingKey } from './record.ts'

export type IdentityAlarmCode =
  | KeyHistoryError
  /** The proof of an answered leaf does not lead to the signed head. */
  | 'leaf_not_in_log'
  /** The history has fewer leaves than before. */
  | 'leaf_missing'
  /** The history has another leaf where one was accepted before. */
  | 'history_rewritten'
  /** A key that the user has not made: its private half does not open under the master key. */
  | 'foreign_key'
  /** The log has not taken a key within a day, or has promised it wrongly. */
  | 'promise_overdue'
  | 'invalid_promise'
  /** No self-record, though a client has proved a key: such clients store one. */
  | 'record_missing'

/** Accepted history of an identity, or what is wrong with it. */
export type IdentityResult =
  | {
      entry: IdentityEntry
      /** Key in force, base64; null if there is none. */
      publicKey: string | null
      /** Instant of the last leaf; null while the key in force is not in the log. */
      changedAt: string | null
      isRemoved: boolean
    }
  | ({ code: IdentityAlarmCode } & Partial<
      Pick<Evidence, 'leaves' | 'checkpoints' | 'remembered' | 'promised' | 'publicKey'>
    >)

type Input = {
  identityId: string
  pages: AnsweredHistory['pages']
  named: NamedKey | undefined
  /** Undefined if there is no self-record at all. */
  entry: IdentityEntry | undefined
  remembered: RememberedIdentity | undefined
  /** True without any record and on a device that remembers nothing of the user. */
  isFirst: boolean
  now: Date
}

/** Seconds within which the log must contain a key, if it has made no promise. */
const patienceSeconds = 24 * 3600

/** Checks the history of an identity, whose heads were verified before. */
export function checkIdentity(suite: NoteSuite, key: NoteKey, input: Input): IdentityResult {
  const { identityId, pages, entry, remembered, isFirst } = input
  const leaves = pages.flatMap(({ events }) => events)
  const shown = { leaves: pages.at(-1)?.events ?? [], checkpoints: pages.slice(-1).map(({ checkpoint }) => checkpoint) }
  const isLogged = pages.every(({ checkpoint, events }) =>
    events.every((event) => isInTree(suite, key, { identityId, checkpoint, ...event })),
  )
  if (!isLogged) return { code: leafErrorOf(leaves) ?? 'leaf_not_in_log', ...shown }
  const anchors = [entry, remembered].filter((anchor) => anchor !== undefined)
  const lost = anchors.map((anchor) => findLoss(suite, leaves, anchor)).find((found) => found !== undefined)
  if (lost) return { ...lost, ...shown }
  const history = leaves.length === 0 ? undefined : readKeyHistory(suite, { log: key.name, identityId, leaves })
  if (history && 'error' in history) return { code: history.error, ...shown }
  const events = leaves.flatMap(({ leaf }) => parsed(leaf))
  if (isFirst && events.some(({ possession }) => possession !== null)) return { code: 'record_missing', ...shown }
  if (input.named && history?.state.event === 'removed') return { code: 'after_removal', ...shown }
  const error = findForeignKey({ ...input, events }) ?? findBrokenPromise(suite, key, input, events)
  return error ? { ...error, ...shown } : conclude(input, { history, events })
}

function isInTree(
  suite: NoteSuite,
  key: NoteKey,
  logged: { identityId: string; checkpoint: string } & LoggedLeaf,
): boolean {
  return verifyKeyInclusion(suite, logged, key) !== undefined
}

/** Returns why a leaf cannot be read: that is another alarm than a wrong proof. */
function leafErrorOf(leaves: LoggedLeaf[]): KeyHistoryError | undefined {
  return leaves.map(({ leaf }) => readKeyEvent(leaf)).find((found) => typeof found === 'string')
}

function parsed(leaf: string): KeyEvent[] {
  const event = readKeyEvent(leaf)
  return typeof event === 'string' ? [] : [event]
}

/** Finds whether a leaf that was accepted before is not at its place any more. */
function findLoss(
  suite: NoteSuite,
  leaves: LoggedLeaf[],
  { head, leaves: count }: Pick<IdentityEntry, 'head' | 'leaves'>,
) {
  if (head === null) return undefined
  const remembered = { head, leaves: count }
  const found = leaves[count - 1]
  if (!found) return { code: 'leaf_missing' as const, remembered }
  const isSame = hashKeyEvent(suite.sha256, found.leaf) === head
  return isSame ? undefined : { code: 'history_rewritten' as const, remembered }
}

/**
 * Finds a key that is not the user's. A leaf that was not accepted before is theirs only if the private half of its key
 * opens under the master key, under which others cannot seal, or if their own record names the key. Without any record
 * the log's leaves are taken as they are, but the key in force must open.
 */
function findForeignKey({ entry, remembered, named, isFirst, events }: Input & { events: KeyEvent[] }) {
  const accepted = isFirst ? events.length : Math.max(entry?.leaves ?? 0, remembered?.leaves ?? 0)
  const own = new Set((entry?.pending ?? []).map(({ publicKey }) => publicKey))
  if (named?.isOwn) own.add(named.publicKey)
  const logged = new Set<string>()
  for (const [position, { event, publicKey }] of events.entries()) {
    const isNewKey = position >= accepted && isOfNewKey(event)
    if (isNewKey && !own.has(publicKey)) return { code: 'foreign_key' as const, publicKey }
    logged.add(publicKey)
  }
  const isNamedOwn = !named || named.isOwn || (!isFirst && (own.has(named.publicKey) || logged.has(named.publicKey)))
  return isNamedOwn ? undefined : { code: 'foreign_key' as const, publicKey: named.publicKey }
}

/** Finds a key of the user that the log should contain by now. */
function findBrokenPromise(suite: NoteSuite, key: NoteKey, { entry, now }: Input, events: KeyEvent[]) {
  for (const { promised, since, publicKey } of listPending(entry, events)) {
    const error = promised && findPromiseError(suite, promised.promise, { leaf: promised.leaf, logKey: key })
    if (error) return { code: 'invalid_promise' as const, promised, publicKey }
    const due = promised ? Date.parse(promised.promise.due) : Date.parse(since) + patienceSeconds * 1000
    if (now.getTime() >= due) return { code: 'promise_overdue' as const, promised, publicKey }
  }
  return undefined
}

/** Lists the keys of the record that the log still lacks. */
function listPending(entry: IdentityEntry | undefined, events: KeyEvent[]): PendingKey[] {
  const logged = new Set(events.slice(entry?.leaves ?? 0).map(({ publicKey }) => publicKey))
  return (entry?.pending ?? []).filter(({ publicKey }) => !logged.has(publicKey))
}

function conclude(
  { entry, named, now }: Input,
  { history, events }: { history: KeyHistory | undefined; events: KeyEvent[] },
): IdentityResult {
  const last = history?.state
  const isRemoved = last?.event === 'removed'
  const kept = listPending(entry, events)
  const isNew = named?.isOwn && ![...events, ...kept].some(({ publicKey }) => publicKey === named.publicKey)
  const found = isNew ? [{ promised: null, publicKey: named.publicKey, since: now.toISOString() }] : []
  const pending = isRemoved ? [] : addPending(kept, found)
  return {
    entry: { head: last?.head ?? null, leaves: events.length, pending },
    publicKey: pending.at(-1)?.publicKey ?? last?.publicKey ?? null,
    changedAt: pending.length > 0 ? null : (last?.at ?? null),
    isRemoved,
  }
}

/**
 * Adds keys that the log does not contain yet. Only the newest keeps its promise: its leaf names the ones before, so
 * the log cannot keep this promise and break theirs.
 */
export function addPending(kept: PendingKey[], added: PendingKey[]): PendingKey[] {
  const newest = [...kept, ...added].slice(-pageLimits.selfRecordPendingMax)
  return newest.map((each, index) => (index < newest.length - 1 ? { ...each, promised: null } : each))
}
