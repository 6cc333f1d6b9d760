import { existsSync } from 'node:fs'
import { advanceAuditHeads, isAuditHead, type AuditHeadError } from '@countersign/protocol/formats/audit/audit-head'
import { type Checkpoint, type NoteKey, writeVerifierKey } from '@countersign/protocol/formats/signing/checkpoint'
import { type KeyEvent, identityDigest, parseKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { advanceKeyHistory, type KeyHistoryError } from '@countersign/protocol/formats/signing/key-history'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { type Subtree, appendLeaves, hashLeaf, rootOf } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { Command } from 'commander'
import { parseJsonResponse, reach, reachInTurn, readText } from '../call.ts'
import { CliError, fieldsOf, listOf, printJson, printTable, textOf } from '../terminal.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { readTrustFile } from '../trust-file.ts'
import { KeyStates } from './key-states.ts'
import { fetchLogKeys } from './log-keys.ts'
import { readState, writeState, type WatchState } from './state-file.ts'
import { collectIds } from '../options/values.ts'

type Options = { state: string; trust?: string; identity: string[] }

type LogEntry = KeyEvent & { index: number }

/** Events in the output. A log may have grown by any number. */
const eventsMax = 1000

const { sha256 } = nodeSuite

export function addWatch(log: Command): void {
  log
    .command('watch')
    .description('verify that the signing key log is append-only since the last run, and check the history of each key')
    .requiredOption('--state <file>', 'state file of the last run; it is updated')
    .option('--trust <file>', 'trust file with the key of the log; default: the key that the server names first')
    .option('--identity <id>', 'print only events of this identity (repeatable)', collectIds, [])
    .action(async ({ state, trust, identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const before = existsSync(state) ? readState(state) : undefined
      const trusted = trust === undefined ? undefined : readTrustFile(trust)
      if (before && trusted && writeVerifierKey(sha256, before.key) !== writeVerifierKey(sha256, trusted))
        throw new CliError(`${state} is the state of another log than the one in ${trust}`)
      const { key, head } = await fetchHead(settings, before?.key ?? trusted)
      const seen = before ?? { key, peaks: [], identities: new KeyStates(), audit: undefined }
      const added = head.size - sizeOf(seen.peaks)
      const { peaks, audit, events, matches } = await follow(settings, seen, head, identity)
      writeState(state, { ...seen, peaks, audit })
      const omitted = matches - events.length
      if (settings.json)
        return printJson({ origin: head.origin, size: head.size, events, omitted, audit: audit ?? null })
      print(head, seen.identities, { added, events, omitted, audit })
    })
}

/** Fetches the signed head of the log, and verifies it with the known key, or the one that the server names. */
async function fetchHead(settings: Settings, known: NoteKey | undefined): Promise<{ key: NoteKey; head: Checkpoint }> {
  const key = known ?? (await fetchKey(settings))
  const response = await reach(`${settings.baseUrl}/api/transparency/checkpoint`)
  if (!response.ok) throw new CliError(`${response.url} returned ${response.status}`)
  const head = verifyCheckpoint(nodeSuite, await readText(response), key)
  if (!head) throw new CliError(`the checkpoint is not signed by the key of the log ${key.name}`)
  return { key, head }
}

async function fetchKey(settings: Settings): Promise<NoteKey> {
  const { keys, origin = '' } = await fetchLogKeys(settings)
  const publicKey = Buffer.from(textOf(fieldsOf(keys[0])['x']), 'base64url')
  if (origin === '' || publicKey.length !== 32) throw new CliError('the server does not return the key of its log')
  return { name: origin, publicKey }
}

/** Subtrees over all entries, the last head of the audit log, the first events to print, and how many there are. */
type Followed = Pick<WatchState, 'peaks' | 'audit'> & { events: LogEntry[]; matches: number }

/**
 * Fetches the new entries, checks that all entries together have the root in the signed head, and that each continues
 * the history of its identity, or the heads of the audit log. Changes the states of the identities.
 */
async function follow(
  settings: Settings,
  { key, peaks: seen, audit, identities }: WatchState,
  head: Checkpoint,
  identityIds: string[],
): Promise<Followed> {
  const digests = identityIds.map((identityId) => identityDigest(sha256, identityId))
  const followed: Followed = { peaks: seen, audit, events: [], matches: 0 }
  let error: CliError | undefined
  const start = sizeOf(seen)
  if (head.size < start)
    throw new CliError(`the log has ${head.size} entries, but had ${start}: it was rolled back or replaced`)
  for (let index = start; index < head.size;) {
    const leaves = await fetchLeaves(settings, index)
    if (leaves.length === 0) throw new CliError(`the server does not return entry ${index} of its log`)
    for (const leaf of leaves.slice(0, head.size - index)) {
      followed.peaks = appendLeaves(sha256, followed.peaks, hashLeaf(sha256, Buffer.from(leaf))).peaks
      const event = parseKeyEvent(leaf)
      const entry = { index, leaf, event }
      error ??=
        !event && isAuditHead(leaf) ? continueAudit(followed, entry) : continueHistory(identities, key.name, entry)
      if (event) addEvent(followed, { ...event, index }, digests)
      index += 1
    }
  }
  if (Buffer.compare(rootOf(sha256, followed.peaks), head.root) !== 0)
    throw new CliError('the entries do not match the signed log, or the log does not extend the last state')
  // Only now is it certain that the log has signed the entry: its error is evidence against the service.
  if (error) throw error
  return followed
}

/** Checks an entry against the state of its identity, and stores the next one. Returns its error. */
function continueHistory(
  identities: KeyStates,
  log: string,
  { index, leaf, event }: { index: number; leaf: string; event: KeyEvent | undefined },
): CliError | undefined {
  const state = event && identities.find(event.identity)
  const next = advanceKeyHistory(nodeSuite, log, state, leaf)
  if (typeof next === 'string')
    return new CliError(`entry ${index} of the log is wrong: ${next} (${sentences[next]}).\n${leaf}`)
  identities.set(next)
  return undefined
}

/** Checks an entry against the last head of the audit log, and keeps it as that. Returns its error. */
function continueAudit(followed: Followed, { index, leaf }: { index: number; leaf: string }): CliError | undefined {
  const next = advanceAuditHeads(sha256, followed.audit, leaf)
  if (typeof next === 'string')
    return new CliError(`entry ${index} of the log is wrong: ${next} (${sentences[next]}).\n${leaf}`)
  followed.audit = next
  return undefined
}

const sentences: Record<KeyHistoryError | AuditHeadError, string> = {
  malformed_leaf: 'it is not an event in its one form',
  unknown_event: 'its event is unknown to this version',
  other_identity: 'it belongs to another identity',
  after_removal: 'the identity was removed before',
  time_went_back: 'it is older than the entry before it',
  place_went_back: 'the audit log has no more events than in the entry before it',
  version_gap: 'a version of the key is missing',
  version_twice: 'the version of the key exists already',
  broken_chain: 'it does not name the entry before it',
  unlinked_key: 'its link is not signed by the former key',
  no_possession: 'its possession is not signed by the key',
  key_used_before: 'the identity had this key before',
}

function addEvent(followed: Followed, event: LogEntry, digests: string[]): void {
  if (digests.length > 0 && !digests.includes(event.identity)) return
  followed.matches += 1
  if (followed.events.length < eventsMax) followed.events.push(event)
}

async function fetchLeaves(settings: Settings, start: number): Promise<string[]> {
  const response = await reachInTurn(settings, `${settings.baseUrl}/api/transparency/leaves?start=${start}`)
  if (!response.ok) throw new CliError(`${response.url} returned ${response.status}`)
  return listOf(fieldsOf(await parseJsonResponse(response))['leaves']).map((leaf) => textOf(fieldsOf(leaf)['leaf']))
}

type Printed = { added: number; events: LogEntry[]; omitted: number; audit: WatchState['audit'] }

function print({ origin, size }: Checkpoint, identities: KeyStates, { added, events, omitted, audit }: Printed): void {
  console.log(`${origin}: ${size} entries, ${added} new. Append-only check passed.`)
  const unproved = identities.countUnproved()
  console.log(`${identities.count} identities, their key histories are consistent. ${unproved} keys lack a proof.`)
  if (audit) console.log(`The audit log had ${audit.sequence} events at ${audit.at}.`)
  if (events.length === 0) return
  const rows = events.map((each) => [
    ...[String(each.index), each.at, each.event, String(each.keyVersion), proofsOf(each), each.publicKey],
  ])
  printTable([['Leaf', 'Time', 'Event', 'Version', 'Proofs', 'Key'], ...rows])
  if (omitted > 0) console.log(`${omitted} further events are not shown.`)
}

/** Which proofs an entry has, of those that it can have. */
function proofsOf({ event, link, possession }: KeyEvent): string {
  if (event === 'removed') return '-'
  const names = [...(link === null ? [] : ['link']), ...(possession === null ? [] : ['possession'])]
  return names.length === 0 ? 'none' : names.join(', ')
}

function sizeOf(peaks: Subtree[]): number {
  return peaks.reduce((size, { level }) => size + 2 ** level, 0)
}
