import type { Checkpoint } from '@countersign/protocol/formats/signing/checkpoint'
import { containsLeaf, verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { hashKeyEvent, identityDigest, readKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import {
  type HistoryKey,
  type IndexedLeaf,
  type KeyHistory,
  type KeyHistoryError,
  listMissingKeyProofs,
  readKeyHistory,
} from '@countersign/protocol/formats/signing/key-history'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { nodeSuite, wasInForce } from '@countersign/protocol/signing/receipt-verification'
import { CountersignError } from '../shared/error.ts'
import { exchange, isRecord } from '../shared/exchange.ts'
import { type KnownLog, admitCheckpoint, parseStored, readKnownLog } from './log-head.ts'
import type { AcceptKey, Log, Trust } from './trust-settings.ts'
import { storeFailed } from './trust-store.ts'

/** A log, and whether keys without proofs by their owners are accepted. */
type KeyTrust = Pick<Trust, 'log' | 'keys'>

/** The signing key of an identity that the log has proved. */
export type ProvedKey = { publicKey: string; keyVersion: number }

/** Key that has answered a request, as the service says, when it did, and the expiry named at the creation. */
export type KeyUse = { publicKey: string; at: string; expiresAt: string }

type LoggedLeaf = IndexedLeaf & { hashes: string[] }

/** The last leaf of an identity that was seen. `stored` is its text in the store. */
type KnownLeaf = { index: number; leafHash: string; stored: string }

const patienceMilliseconds = 15_000
const pagesMax = 6
/** An identity has 200 keys at most, each with two leaves, and one of its end. */
const leavesMax = 600
const attemptsMax = 8

/**
 * Proves the key of an identity, or the one of a use, which was in force then: reads the leaves from the log of the
 * service, verifies them under checkpoints that continue what was seen before, and stores the last leaf. Throws
 * `key_not_proved` if the log does not prove a key, `history_rewritten` if a leaf that was seen is missing, the code of
 * `readKeyHistory` for an invalid history, and the codes of `admitCheckpoint`.
 */
export async function proveKey(trust: KeyTrust, identityId: string, use?: KeyUse): Promise<ProvedKey> {
  const { store } = trust.log
  const storeKey = storeKeyOf(identityId)
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    // Before the service is asked: what other processes store later may be newer than its answer.
    const known = parseKnownLeaf(await store.read(storeKey))
    const { log, leaves } = await fetchLeaves(trust.log, identityId)
    requireKnownLeaf(leaves, known)
    const key = await requireProvedKey(trust, identityId, until(readHistory(log, identityId, leaves), use))
    const last = leaves.at(-1)
    if (!last) throw notProved(noLeaf)
    const next = toText(last)
    if (known?.stored === next || (await store.advance(storeKey, known?.stored, next))) return key
  }
  throw storeFailed('advance found another value each time.')
}

/** Fetches all leaves of an identity, page by page, each verified under the checkpoint of its page. */
async function fetchLeaves(trusted: Log, identityId: string): Promise<{ log: KnownLog; leaves: IndexedLeaf[] }> {
  let log = await readKnownLog(trusted)
  const leaves: IndexedLeaf[] = []
  let start: number | null = 0
  for (let page = 0; page < pagesMax; page += 1) {
    const { checkpoint, events, nextStart } = await fetchPage(trusted, identityId, start)
    if (leaves.length + events.length > leavesMax) throw unexpectedPage()
    log = await admitCheckpoint(trusted, log, checkpoint)
    // Once for all leaves of the page, because a service chooses how long its note is.
    const head = verifyCheckpoint(nodeSuite, checkpoint, log.key)
    for (const event of events) requireInclusion(head, identityId, event)
    leaves.push(...events.map(({ index, leaf }) => ({ index, leaf })))
    if (nextStart === null) return { log, leaves }
    start = nextStart
  }
  throw unexpectedPage()
}

function requireInclusion(head: Checkpoint | undefined, identityId: string, logged: LoggedLeaf): void {
  const { sha256 } = nodeSuite
  const event = readKeyEvent(logged.leaf)
  if (typeof event === 'string') throw invalidHistory(event)
  const isIncluded = head && containsLeaf(sha256, head, logged) && event.identity === identityDigest(sha256, identityId)
  if (!isIncluded) throw notProved('A leaf of this identity is not in the log.')
}

type Page = { checkpoint: string; events: LoggedLeaf[]; nextStart: number | null }

async function fetchPage({ baseUrl }: Log, identityId: string, start: number): Promise<Page> {
  const url = new URL(`/api/transparency/identities/${encodeURIComponent(identityId)}`, baseUrl)
  url.searchParams.set('start', String(start))
  const page = await exchange(url, { patienceMilliseconds })
  if (!isPage(page)) throw unexpectedPage()
  return page
}

function isPage(value: unknown): value is Page {
  if (!isRecord(value) || typeof value['checkpoint'] !== 'string' || !Array.isArray(value['events'])) return false
  const { nextStart, events } = value
  return (nextStart === null || Number.isSafeInteger(nextStart)) && events.every(isLoggedLeaf)
}

function isLoggedLeaf(value: unknown): value is LoggedLeaf {
  if (!isRecord(value) || typeof value['leaf'] !== 'string' || !Array.isArray(value['hashes'])) return false
  return Number.isSafeInteger(value['index']) && value['hashes'].every((hash) => typeof hash === 'string')
}

function requireKnownLeaf(leaves: IndexedLeaf[], known: KnownLeaf | undefined): void {
  if (!known) return
  const found = leaves.find(({ index }) => index === known.index)
  if (!found || hashKeyEvent(nodeSuite.sha256, found.leaf) !== known.leafHash) throw new CountersignError(rewritten)
}

function readHistory({ key: { name: log } }: KnownLog, identityId: string, leaves: IndexedLeaf[]): KeyHistory {
  if (leaves.length === 0) throw notProved(noLeaf)
  const history = readKeyHistory(nodeSuite, { log, identityId, leaves })
  if ('error' in history) throw invalidHistory(history.error)
  if (history.state.event === 'removed') throw notProved('The log says that the identity was deleted.')
  return history
}

/** Returns the keys up to the one in force, or in force at a use. Throws `key_not_proved` if that was another one. */
function until({ keys }: KeyHistory, use: KeyUse | undefined): HistoryKey[] {
  if (!use) return keys
  const used = keys.find(({ publicKey }) => publicKey === use.publicKey)
  if (!used || !wasInForce(used, Date.parse(use.at)) || endedBefore(used, use))
    throw notProved('The signature is by another key than that of the identity.')
  return keys.filter(({ keyVersion }) => keyVersion <= used.keyVersion)
}

/**
 * Returns whether a key was replaced before its request can have existed. The service names the time of a signature,
 * and could name an earlier one for a key that was stolen and replaced.
 */
function endedBefore({ endedAt }: HistoryKey, { expiresAt }: KeyUse): boolean {
  if (endedAt === null) return false
  const earliest = Date.parse(expiresAt) - pageLimits.signingLifetimeSecondsMax * 1000
  return !(Date.parse(endedAt) >= earliest)
}

/** Returns the last of these keys, if its owner and each key before have proved it, or the app accepts it. */
async function requireProvedKey(
  { keys: policy }: Pick<KeyTrust, 'keys'>,
  identityId: string,
  keys: HistoryKey[],
): Promise<ProvedKey> {
  const last = keys.at(-1)
  if (!last) throw notProved(noLeaf)
  const { publicKey, keyVersion } = last
  const missing = listMissingKeyProofs({ keys }, keyVersion)
  if (missing.length === 0 || policy === 'any') return { publicKey, keyVersion }
  const isAccepted = policy !== 'proved' && (await acceptsBreak(policy, identityId, keys))
  if (!isAccepted) throw notProved(`Its owner has not proved it (${missing.join(', ')}).`)
  return { publicKey, keyVersion }
}

/** Checks that the app accepts the last key without a link, and that it and each later key has proof of possession. */
async function acceptsBreak(accept: AcceptKey, identityId: string, keys: HistoryKey[]): Promise<boolean> {
  const last = keys.findLast(({ isLinked }) => !isLinked)
  if (!last || keys.some((key) => key.keyVersion >= last.keyVersion && !key.hasPossession)) return false
  const { publicKey, keyVersion } = last
  return await accept({ identityId, publicKey, keyVersion })
}

function storeKeyOf(identityId: string): string {
  return `identity/${Buffer.from(nodeSuite.sha256(new TextEncoder().encode(identityId))).toString('hex')}`
}

function toText({ index, leaf }: IndexedLeaf): string {
  return JSON.stringify({ version: 1, index, leafHash: hashKeyEvent(nodeSuite.sha256, leaf) })
}

function parseKnownLeaf(stored: string | undefined): KnownLeaf | undefined {
  if (stored === undefined) return undefined
  const { version, index, leafHash } = parseStored(stored)
  if (version !== 1 || typeof index !== 'number' || typeof leafHash !== 'string')
    throw storeFailed('A stored value is damaged.')
  return { index, leafHash, stored }
}

const noLeaf = 'The log contains no signing key of this identity.'

/** Returns the error for a key that the log does not prove. */
export function notProved(reason: string): CountersignError {
  return new CountersignError({ code: 'key_not_proved', description: `The key is not proved. ${reason}` })
}

function invalidHistory(error: KeyHistoryError): CountersignError {
  return new CountersignError({ code: error, description: `The log contains an invalid key history (${error}).` })
}

function unexpectedPage(): CountersignError {
  return new CountersignError({
    code: 'unexpected_response',
    description: 'The service returned no list of log entries of the identity.',
  })
}

const rewritten = {
  code: 'history_rewritten',
  description: 'The log no longer shows a key of this identity that was seen before.',
}
