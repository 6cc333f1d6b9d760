/**
 * Self-check: compares what the service answers about a user's keys with their self-record and with what the device
 * remembers. It runs at each unlock, before anything is signed or delivered.
 */
import { writeCanonicalJson } from '../signing/canonical-json.ts'
import { parseVerifierKey, type NoteKey, type NoteSuite } from '../signing/checkpoint.ts'
import { findHeadContradiction, type LogHeadError } from './log-heads.ts'
import type { AnsweredRecord, Answers, DeviceMemory, NamedKey, RememberedIdentity } from './answers.ts'
import type { Evidence } from './evidence.ts'
import { checkIdentity, type IdentityAlarmCode, type IdentityResult } from './identity-check.ts'
import { recordVersion, type IdentityEntry, type KnownLog, type SelfRecord } from './record.ts'

export type AlarmCode =
  | LogHeadError
  | IdentityAlarmCode
  /** The device has seen a record, or a key was proved by a client that stores one, and the service shows none. */
  | 'record_missing'
  /** The service shows an older record than this device has seen. */
  | 'record_replayed'
  | 'record_damaged'
  /** A later version of the pages has written the record. */
  | 'newer_record'
  /** The service has named no valid key of its log. */
  | 'no_log_key'

/** Change of a user's key since this device last looked. */
export type KeyChange = {
  identityId: string
  handle: string
  kind: 'created' | 'replaced' | 'removed'
  /** Instant of the log entry; null while the log does not contain it. */
  at: string | null
}

export type Alarm = { kind: 'alarm'; code: AlarmCode; identityId: string | null; evidence: Evidence }

export type CheckResult =
  | Alarm
  | {
      kind: 'ok'
      /** Record to store; null if the stored one says the same. */
      next: SelfRecord | null
      /** True if keys changed: the record must be stored now. A later head of the log alone can wait. */
      isUrgent: boolean
      memory: DeviceMemory
      changes: KeyChange[]
    }

type Input = {
  answered: AnsweredRecord
  memory: DeviceMemory | undefined
  answers: Answers
  /** Signed heads that the service has shown just before, in a first look. */
  earlier?: string[]
  now: Date
}

/** Checks everything. Hostile answers do not make it throw. */
export function checkSelf(suite: NoteSuite, { answered, memory, answers, earlier = [], now }: Input): CheckResult {
  const alarm = alarmer(now)
  const recordError = findRecordError(answered, memory)
  if (recordError) return alarm(recordError, {})
  const record = answered.kind === 'record' ? answered.record : undefined
  const logs = [record?.log, memory?.log].filter((log) => log !== undefined && log !== null)
  const logKey = logs[0]?.key ?? answers.logKey
  const key = logKey === null ? undefined : parseVerifierKey(suite.sha256, logKey)
  if (!key) return alarm('no_log_key', { logKey })
  const known = [...logs.map(({ checkpoint }) => checkpoint), ...earlier]
  if (logs.some((log) => log.key !== logKey)) return alarm('other_log_key', { logKey, checkpoints: known })
  const notes = answers.histories.flatMap(({ pages }) => pages.map(({ checkpoint }) => checkpoint))
  const heads = findHeadContradiction(suite, key, { known, answered: notes, proofs: answers.proofs })
  if (heads)
    return alarm(heads.error, {
      logKey,
      checkpoints: [...new Set([...known, ...heads.checkpoints])],
      proof: heads.proof,
    })

  const results = new Map<string, IdentityResult>()
  for (const identityId of listIdentities(record, memory, answers)) {
    const result = checkIdentity(suite, key, {
      identityId,
      pages: answers.histories.find((each) => each.identityId === identityId)?.pages ?? [],
      named: answers.keys.find((each) => each.identityId === identityId),
      entry: record && (record.identities[identityId] ?? noEntry),
      remembered: memory?.identities[identityId],
      isFirst: !record && !memory,
      now,
    })
    if ('code' in result) {
      const { code, ...evidence } = result
      return alarm(code, { logKey, identityId, ...evidence })
    }
    results.set(identityId, result)
  }
  return accept({ record, memory, answers, log: toKnownLog(suite, key, { logKey, known, notes }), results })
}

const noEntry: IdentityEntry = { head: null, leaves: 0, pending: [] }

/** Lists the identities whose histories must be read: those that the service names, and all that are remembered. */
export function listIdentities(
  record: SelfRecord | undefined,
  memory: DeviceMemory | undefined,
  { identityIds, keys }: Pick<Answers, 'identityIds' | 'keys'>,
): string[] {
  const named = [...identityIds, ...keys.map(({ identityId }) => identityId)]
  return [...new Set([...Object.keys(record?.identities ?? {}), ...Object.keys(memory?.identities ?? {}), ...named])]
}

/**
 * Checks what can be checked without the log: the record, and that each key that the service names opens under the
 * master key or is the one that this device remembers.
 */
export function findContradictionWithoutLog({
  answered,
  memory,
  keys,
  now,
}: Pick<Input, 'answered' | 'memory' | 'now'> & Pick<Answers, 'keys'>): Alarm | undefined {
  const alarm = alarmer(now)
  const recordError = findRecordError(answered, memory)
  if (recordError) return alarm(recordError, {})
  const isKnown = ({ identityId, publicKey, isOwn }: NamedKey) =>
    isOwn || memory?.identities[identityId]?.publicKey === publicKey
  const foreign = keys.find((key) => !isKnown(key))
  return foreign && alarm('foreign_key', { identityId: foreign.identityId, publicKey: foreign.publicKey })
}

function findRecordError(answered: AnsweredRecord, memory: DeviceMemory | undefined): AlarmCode | undefined {
  const seen = memory?.sequence ?? 0
  if (answered.kind === 'damaged') return 'record_damaged'
  if (answered.kind === 'newer') return 'newer_record'
  if (answered.kind === 'absent') return seen > 0 ? 'record_missing' : undefined
  return answered.record.sequence < seen ? 'record_replayed' : undefined
}

type Accepted = {
  record: SelfRecord | undefined
  memory: DeviceMemory | undefined
  answers: Answers
  log: KnownLog
  results: Map<string, IdentityResult>
}

function accept({ record, memory, answers, log, results }: Accepted): CheckResult {
  const identities: Record<string, IdentityEntry> = {}
  const remembered: Record<string, RememberedIdentity> = {}
  const changes: KeyChange[] = []
  for (const [identityId, result] of results) {
    if ('code' in result) continue
    const before = memory?.identities[identityId]
    const handle = handleOf(answers.keys, identityId) ?? before?.handle ?? ''
    const change = memory && toChange(before, result)
    if (change) changes.push({ identityId, handle, ...change })
    if (result.isRemoved) continue
    identities[identityId] = { ...record?.identities[identityId], ...result.entry }
    const { head, leaves } = result.entry
    remembered[identityId] = { handle, head, leaves, publicKey: result.publicKey }
  }
  const isUrgent = !record || writeCanonicalJson(identities) !== writeCanonicalJson(record.identities)
  const isSame = !isUrgent && record.log?.checkpoint === log.checkpoint
  const sequence = (record?.sequence ?? 0) + 1
  const next = isSame ? null : { ...record, identities, log, sequence, version: recordVersion }
  const seen = record?.sequence ?? 0
  return {
    kind: 'ok',
    next,
    isUrgent,
    changes,
    memory: { identities: remembered, log, sequence: seen, unreachableSince: null, version: 1 },
  }
}

/** Finds what a device that knew the user before has not seen of an identity's key. */
function toChange(
  before: RememberedIdentity | undefined,
  { isRemoved, publicKey, changedAt }: Exclude<IdentityResult, { code: string }>,
): Pick<KeyChange, 'kind' | 'at'> | undefined {
  if (isRemoved) return before ? { kind: 'removed', at: changedAt } : undefined
  if (publicKey === null || publicKey === (before?.publicKey ?? null)) return undefined
  return { kind: before?.publicKey ? 'replaced' : 'created', at: changedAt }
}

function handleOf(keys: NamedKey[], identityId: string): string | undefined {
  return keys.find((each) => each.identityId === identityId)?.handle
}

/** Returns the latest of the heads, which all belong to one log. */
function toKnownLog(
  suite: NoteSuite,
  key: NoteKey,
  { logKey, known, notes }: { logKey: string | null; known: string[]; notes: string[] },
): KnownLog {
  const sizes = [...known, ...notes].map((note) => ({ note, size: Number(note.split('\n')[1]) }))
  const latest = sizes.toSorted((one, other) => other.size - one.size)[0]
  return { key: logKey ?? '', checkpoint: latest?.note ?? '' }
}

type EvidenceParts = Partial<Omit<Evidence, 'version' | 'code' | 'at'>>

/** Returns a function that raises an alarm with its evidence. */
function alarmer(now: Date) {
  return (code: AlarmCode, parts: EvidenceParts): Alarm => {
    const evidence: Evidence = {
      version: 1,
      code,
      at: now.toISOString(),
      identityId: null,
      logKey: null,
      checkpoints: [],
      proof: null,
      leaves: [],
      remembered: null,
      promised: null,
      publicKey: null,
      ...parts,
    }
    return { kind: 'alarm', code, identityId: evidence.identityId, evidence }
  }
}
