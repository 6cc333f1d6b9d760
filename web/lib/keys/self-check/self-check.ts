/**
 * Checks the keys of a user against their self-record. `key-vault.ts` calls it at each unlock, before it gives the
 * master key to a page.
 */
import { DecryptionError } from '@countersign/keys/envelope'
import type { MasterKey } from '@countersign/keys/master-key'
import { parseVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import type {
  AnsweredHistory,
  AnsweredRecord,
  Answers,
  DeviceMemory,
} from '@countersign/protocol/formats/self-record/answers'
import {
  checkSelf,
  findContradictionWithoutLog,
  listIdentities,
  type CheckResult,
} from '@countersign/protocol/formats/self-record/check'
import { writeEvidence } from '@countersign/protocol/formats/self-record/evidence'
import { addPending } from '@countersign/protocol/formats/self-record/identity-check'
import { listNeededProofs } from '@countersign/protocol/formats/self-record/log-heads'
import {
  isPromisedLeaf,
  readSelfRecord,
  recordVersion,
  writeSelfRecord,
  type PendingKey,
  type SelfRecord,
} from '@countersign/protocol/formats/self-record/record'
import { isSettled, mayBeOvertaken, type Look } from '@countersign/protocol/formats/self-record/second-look'
import { ApiError, NetworkError, call } from '../../api/call.ts'
import { requireKeyNotices, type ShownAlarm } from '../key-notices.ts'
import { keepEvidence } from '../evidence-store.ts'
import { readMemory, writeMemory } from './device-store.ts'
import {
  reach,
  readHistory,
  readIdentityIds,
  readLogKey,
  readNamedKeys,
  readProof,
  readSealedRecord,
  UnreachableError,
} from './service.ts'
import { runWithWebCrypto } from './web-suite.ts'

export type Owner = { masterKey: MasterKey; userId: string }

/** Attempts to store a record while other browsers of the user store theirs. */
const attemptsMax = 3
/** More than a promise with its leaf has, so that the record of 20 identities never outgrows its limit. */
const promiseCharactersMax = 1200
/** Time for which keys may be used although nothing could be checked. */
const toleranceMilliseconds = 24 * 3600 * 1000

const emptyMemory: DeviceMemory = { identities: {}, log: null, sequence: 0, unreachableSince: null, version: 1 }

/**
 * Checks the keys of a user. Returns once they may be used. A contradiction forgets the master key and replaces the
 * page by an alarm: the promise then never settles, so that nothing is signed or delivered.
 */
export async function checkKeys(owner: Owner): Promise<void> {
  const notices = requireKeyNotices()
  for (let attempt = 1; ; attempt += 1) {
    const { memory, look } = await lookWithCare(owner)
    if (look instanceof UnreachableError) return tolerate(owner, memory)
    const result = await requireNoAlarm(owner, look.result)
    const isKnown = result.changes.length === 0 || (await notices.showChanges(result.changes))
    if (!isKnown) return stop(owner, { code: 'unknown_change', evidence: undefined })
    const stored = await store(owner, result)
    if (stored === 'conflict' && attempt < attemptsMax) continue
    const sequence = stored === 'stored' ? (result.next?.sequence ?? 0) : result.memory.sequence
    // Another tab may have seen a later record meanwhile.
    const latest = await readMemory(owner.masterKey, owner.userId)
    const highest = Math.max(sequence, latest?.sequence ?? 0)
    return writeMemory(owner.masterKey, owner.userId, { ...result.memory, sequence: highest })
  }
}

type Looked = { memory: DeviceMemory | undefined; look: Look | UnreachableError }

/**
 * Compares everything. Looks once more before a key alarms that another browser of the user may have just made. Without
 * a second look, the first one alarms, so no failure of the second is lost in silence.
 */
async function lookWithCare(owner: Owner): Promise<Looked> {
  const first = await lookOnce(owner)
  if (first.look instanceof UnreachableError || !mayBeOvertaken(first.look)) return first
  const second = await lookOnce(owner, headsOf(first.look.histories)).catch(() => undefined)
  if (!second || second.look instanceof UnreachableError || !isSettled(first.look, second.look)) return first
  return second
}

async function lookOnce(owner: Owner, earlier: string[] = []): Promise<Looked> {
  // Before the service is asked: what other tabs store later may be newer than its answers.
  const memory = await readMemory(owner.masterKey, owner.userId)
  // Without a log, no check was ever completed here: such a device remembers nothing.
  const seen = memory?.log ? memory : undefined
  return { memory, look: await compare(owner, { memory: seen, earlier }).catch(toUnreachable) }
}

/** What a check accepted. */
type Accepted = Extract<CheckResult, { kind: 'ok' }>

/** Returns what a check accepted. After an alarm, the promise never settles: see `checkKeys`. */
export async function requireNoAlarm(owner: Owner, result: CheckResult): Promise<Accepted> {
  if (result.kind === 'ok') return result
  const evidence = writeEvidence(result.evidence)
  await keepEvidence(result.evidence.at, evidence)
  return stop(owner, { code: result.code, evidence })
}

function headsOf(histories: AnsweredHistory[]): string[] {
  return histories.flatMap(({ pages }) => pages.map(({ checkpoint }) => checkpoint))
}

/** What this device knows before it asks the service, and the signed heads of a look just before. */
type Before = { memory: DeviceMemory | undefined; earlier: string[] }

/** Asks the service for everything, and compares it. */
async function compare(owner: Owner, before: Before): Promise<Look> {
  const answers = [readSealedRecord(), readNamedKeys(owner.masterKey), readIdentityIds()] as const
  const [sealed, keys, identityIds] = await reach(Promise.all(answers))
  const named: Named = { answered: await openRecord(owner, sealed), keys, identityIds }
  const look = await reach(compareWithLog(named, before)).catch(toUnreachable)
  if (!(look instanceof UnreachableError)) return look
  const alarm = findContradictionWithoutLog({ ...named, memory: before.memory, now: new Date() })
  if (alarm) return { ...named, result: alarm, histories: [] }
  throw look
}

type Named = Pick<Answers, 'keys' | 'identityIds'> & { answered: AnsweredRecord }

/** Reads the log, and compares everything with it. */
export async function compareWithLog(
  { answered, keys, identityIds }: Named,
  { memory, earlier }: Before = { memory: undefined, earlier: [] },
): Promise<Look> {
  const record = answered.kind === 'record' ? answered.record : undefined
  const known = [record?.log, memory?.log].flatMap((log) => log ?? [])
  const [logKey, histories] = await Promise.all([
    known[0] ? null : readLogKey(),
    Promise.all(listIdentities(record, memory, { identityIds, keys }).map(readHistory)),
  ])
  const notes = [...known.map(({ checkpoint }) => checkpoint), ...earlier, ...headsOf(histories)]
  const needed = await runWithWebCrypto((suite) => {
    const key = parseVerifierKey(suite.sha256, known[0]?.key ?? logKey ?? '')
    return key ? listNeededProofs(suite, key, notes) : []
  })
  const found = await Promise.all(needed.map(readProof))
  const proofs = found.filter((proof) => proof !== undefined)
  const answers: Answers = { logKey, histories, keys, identityIds, proofs }
  const now = new Date()
  const result = await runWithWebCrypto((suite) => checkSelf(suite, { answered, memory, answers, earlier, now }))
  return { result, answered, keys, histories }
}

async function openRecord({ masterKey, userId }: Owner, sealed: string | null): Promise<AnsweredRecord> {
  if (sealed === null) return { kind: 'absent' }
  try {
    const record = readSelfRecord(await masterKey.openSelfRecord(userId, 'service', sealed))
    if (record === 'newer_record') return { kind: 'newer' }
    return record === 'malformed_record' ? { kind: 'damaged' } : { kind: 'record', record }
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    return { kind: 'damaged' }
  }
}

/**
 * Stores the next record, if there is one. Waits for it where keys have changed. A later head of the log alone is
 * stored while the page continues: if that fails, the next unlock stores it.
 */
async function store(owner: Owner, { next, isUrgent }: Accepted) {
  if (!next) return 'unchanged' as const
  const storing = put(owner, next)
  if (isUrgent) return storing
  storing.catch(reportError)
  return 'unchanged' as const
}

/** Stores a record. Without recent authentication, or without an answer, the next unlock stores it. */
async function put({ masterKey, userId }: Owner, record: SelfRecord): Promise<'stored' | 'conflict' | 'unchanged'> {
  const ciphertext = await masterKey.sealSelfRecord(userId, 'service', writeSelfRecord(record))
  const { sequence } = record
  try {
    await call('PUT /api/account/self-record', { body: { sequence, ciphertext } })
    return 'stored'
  } catch (error) {
    if (error instanceof ApiError && error.code === 'self_record_changed') return 'conflict'
    if (error instanceof ApiError || error instanceof NetworkError) return 'unchanged'
    throw error
  }
}

/**
 * Records a key that this page has just made, so that no device takes it for a stranger's. If it fails, the next unlock
 * recognizes the key, because the master key opens it.
 */
export async function recordNewKey(
  owner: Owner,
  identityId: string,
  { publicKey, promised: answered }: { publicKey: string; promised: unknown },
): Promise<void> {
  const { masterKey, userId } = owner
  const promised = isPromisedLeaf(answered) && JSON.stringify(answered).length < promiseCharactersMax ? answered : null
  const made: Omit<PendingKey, 'since'> = { publicKey, promised }
  const memory = await readMemory(masterKey, userId)
  const known = memory?.identities[identityId] ?? { handle: '', head: null, leaves: 0, publicKey: null }
  const identities = { ...memory?.identities, [identityId]: { ...known, publicKey } }
  const remembered = { ...(memory ?? emptyMemory), identities }
  await writeMemory(masterKey, userId, remembered)
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const sealed = await readSealedRecord().catch(nothingIfUnanswered)
    const opened = await openRecord(owner, sealed ?? null)
    if (opened.kind !== 'record') return
    const { record } = opened
    const entry = record.identities[identityId] ?? { head: null, leaves: 0, pending: [] }
    const pending = addPending(entry.pending, [{ ...made, since: new Date().toISOString() }])
    const changed = { ...record.identities, [identityId]: { ...entry, pending } }
    const next = { ...record, sequence: record.sequence + 1, identities: changed }
    const stored = await put(owner, next)
    if (stored === 'stored') return writeMemory(masterKey, userId, { ...remembered, sequence: next.sequence })
    if (stored === 'unchanged') return
  }
}

/** Seals the first record of a new account, whose key the log does not contain yet. */
export async function sealFirstRecord({ masterKey, userId }: Owner, identityId: string, publicKey: string) {
  const pending = [{ promised: null, publicKey, since: new Date().toISOString() }]
  const identities = { [identityId]: { head: null, leaves: 0, pending } }
  const record: SelfRecord = { version: recordVersion, sequence: 1, log: null, identities }
  return masterKey.sealSelfRecord(userId, 'service', writeSelfRecord(record))
}

/** Lets the keys be used for a day without a check, with a note on the page, and then no more. */
async function tolerate(owner: Owner, memory: DeviceMemory | undefined): Promise<void> {
  const now = Date.now()
  const unreachableSince = memory?.unreachableSince ?? new Date(now).toISOString()
  await writeMemory(owner.masterKey, owner.userId, { ...(memory ?? emptyMemory), unreachableSince })
  const isOver = now - Date.parse(unreachableSince) >= toleranceMilliseconds
  if (isOver) return stop(owner, { code: 'log_unreachable', evidence: undefined })
  await requireKeyNotices().note()
}

async function stop({ masterKey }: Owner, alarm: ShownAlarm): Promise<never> {
  masterKey.forget()
  await requireKeyNotices().alarm(alarm)
  return new Promise<never>(() => undefined)
}

function toUnreachable(error: unknown): UnreachableError {
  if (!(error instanceof UnreachableError)) throw error
  return error
}

function nothingIfUnanswered(error: unknown): undefined {
  if (!(error instanceof ApiError || error instanceof NetworkError || error instanceof UnreachableError)) throw error
}
