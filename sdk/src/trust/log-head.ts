import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import { parseVerifierKey, writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { isConsistent } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { exchange, exchangeText, isRecord } from '../shared/exchange.ts'
import type { Log, LogKey } from './trust-settings.ts'
import { storeFailed } from './trust-store.ts'

type Head = { size: number; root: Uint8Array }

/** What was seen of a log before. `stored` is its text in the store; undefined before the first time. */
export type KnownLog = { key: LogKey; head: Head; stored: string | undefined }

const storeKey = 'log'
const patienceMilliseconds = 15_000
/** More than the processes of an app that advance the store at the same time. */
const attemptsMax = 64

const emptyTree: Head = { size: 0, root: nodeSuite.sha256(new Uint8Array()) }

/**
 * Reads what was seen of the log. Without a pinned key, the first use asks the service for its key. Throws
 * `unknown_log` if the store remembers another log than the pinned one.
 */
export async function readKnownLog(log: Log): Promise<KnownLog> {
  const { pinnedKey, store } = log
  const known = parseKnownLog(await store.read(storeKey))
  if (!known) return { key: pinnedKey ?? (await fetchLogKey(log)), head: emptyTree, stored: undefined }
  if (pinnedKey && !isSameKey(pinnedKey, known.key)) throw new CountersignError(otherLogStored)
  return known
}

/**
 * Accepts a checkpoint that was fetched after `known` was read: the key of the log has signed it, and its tree contains
 * all that was seen. It is stored before this returns, unless a later one is. Throws `unknown_log`, `log_rolled_back`
 * or `log_forked`.
 */
export async function admitCheckpoint(log: Log, known: KnownLog, note: string): Promise<KnownLog> {
  const { key } = known
  const head = verifyCheckpoint(nodeSuite, note, key)
  if (!head) throw new CountersignError(unknownLog)
  if (head.size < known.head.size) throw new CountersignError(rolledBack)
  let latest = known
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (latest.stored !== undefined && latest.head.size >= head.size) {
      // It was seen before, or another process has seen a later one meanwhile.
      await requireConsistent(log, head, latest.head)
      return latest
    }
    await requireConsistent(log, latest.head, head)
    const next = toText(key, head)
    if (await log.store.advance(storeKey, latest.stored, next)) return { key, head, stored: next }
    latest = await readKnownLog({ ...log, pinnedKey: key })
  }
  throw storeFailed('advance found another value each time.')
}

/** Accepts the current checkpoint of the service. Throws as `admitCheckpoint`. */
export async function admitCurrentCheckpoint(log: Log): Promise<KnownLog> {
  const known = await readKnownLog(log)
  const checkpoint = await exchangeText(new URL('/api/transparency/checkpoint', log.baseUrl), { patienceMilliseconds })
  return admitCheckpoint(log, known, checkpoint)
}

/** Returns the trusted key: the pinned one, or that of the first use, which may be now. */
export async function findTrustedKey(log: Log): Promise<LogKey> {
  if (log.pinnedKey) return log.pinnedKey
  const known = await readKnownLog(log)
  return known.stored === undefined ? (await admitCurrentCheckpoint(log)).key : known.key
}

/** Fetches the proof that the tree of one head continues that of another. */
async function requireConsistent({ baseUrl }: Log, from: Head, to: Head): Promise<void> {
  const isTrivial = from.size === 0 || from.size === to.size
  const hashes = isTrivial ? [] : await fetchConsistencyProof(baseUrl, from.size, to.size)
  if (!hashes || !isConsistent(nodeSuite.sha256, { from, to, hashes })) throw new CountersignError(forked)
}

/** Returns undefined if the service has no proof: a log that only grows has one. */
async function fetchConsistencyProof(baseUrl: URL, from: number, to: number): Promise<Uint8Array[] | undefined> {
  const url = new URL('/api/transparency/consistency', baseUrl)
  url.search = new URLSearchParams({ from: String(from), to: String(to) }).toString()
  const answer = await exchange(url, { patienceMilliseconds }).catch((error: unknown) => {
    if (error instanceof CountersignError && error.status === 400) return undefined
    throw error
  })
  const hashes: unknown = isRecord(answer) ? answer['hashes'] : undefined
  return Array.isArray(hashes) ? readHashes(hashes) : undefined
}

/** Decodes hashes of a proof; returns undefined if one is not canonical base64. */
function readHashes(hashes: unknown[]): Uint8Array[] | undefined {
  const bytes = hashes.flatMap((hash) => (typeof hash === 'string' ? (fromCanonicalBase64(hash) ?? []) : []))
  return bytes.length === hashes.length ? bytes : undefined
}

async function fetchLogKey({ baseUrl }: Log): Promise<LogKey> {
  const answer = await exchange(new URL('/api/transparency/jwks', baseUrl), { patienceMilliseconds })
  const line: unknown = isRecord(answer) ? answer['verifierKey'] : undefined
  const key = typeof line === 'string' ? parseVerifierKey(nodeSuite.sha256, line) : undefined
  if (key) return key
  throw new CountersignError({ code: 'unexpected_response', description: 'The response contains no log key.' })
}

function toText(key: LogKey, { size, root }: Head): string {
  const verifierKey = writeVerifierKey(nodeSuite.sha256, key)
  return JSON.stringify({ version: 1, verifierKey, size, root: toBase64(root) })
}

/** Parses the stored text. A damaged one is an error: taken for none, the log would be trusted as if seen first. */
function parseKnownLog(stored: string | undefined): KnownLog | undefined {
  if (stored === undefined) return undefined
  const { version, verifierKey, size, root } = parseStored(stored)
  const key = typeof verifierKey === 'string' ? parseVerifierKey(nodeSuite.sha256, verifierKey) : undefined
  const bytes = typeof root === 'string' ? fromCanonicalBase64(root) : undefined
  if (version !== 1 || !key || typeof size !== 'number' || bytes?.length !== 32) throw storeFailed(damaged)
  return { key, head: { size, root: bytes }, stored }
}

const damaged = 'A stored value is damaged.'

/** Parses a value of the store that this SDK has written. */
export function parseStored(stored: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(stored)
    if (isRecord(value)) return value
  } catch (cause) {
    throw storeFailed(damaged, cause)
  }
  throw storeFailed(damaged)
}

function isSameKey(one: LogKey, other: LogKey): boolean {
  return writeVerifierKey(nodeSuite.sha256, one) === writeVerifierKey(nodeSuite.sha256, other)
}

const otherLogStored = {
  code: 'unknown_log',
  description: 'The trust store remembers another log than the one in trust.log. A new log needs a new store.',
}
const unknownLog = {
  code: 'unknown_log',
  description: 'The checkpoint is not signed by the trusted key of the log.',
}
const rolledBack = {
  code: 'log_rolled_back',
  description: 'The log has fewer entries than before: it was restored from a backup, or entries were removed.',
}
const forked = {
  code: 'log_forked',
  description: 'The log does not contain all entries that were seen before: this is another log under its name.',
}
