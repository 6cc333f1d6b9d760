import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { Checkpoint, NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { type KeyEvent, identityDigest, parseKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { verifyCheckpoint } from '@countersign/protocol/formats/signing/key-inclusion'
import { type Subtree, appendLeaves, hashLeaf, rootOf } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { Command } from 'commander'
import { parseJsonResponse, reach, readText, reasonOf } from '../call.ts'
import { CliError, fieldsOf, listOf, printJson, printTable, textOf } from '../terminal.ts'
import { type Settings, settingsOf } from '../settings.ts'
import { fetchLogKeys } from './log-keys.ts'

type Options = { state: string; identity: string[] }

/** Stored state: the log, and the roots of the subtrees over all entries seen so far. */
type WatchState = { key: NoteKey; peaks: Subtree[] }

type LogEntry = KeyEvent & { index: number }

const { sha256 } = nodeSuite

export function addWatch(log: Command): void {
  log
    .command('watch')
    .description('verify that the signing key log is append-only since the last run, and print new events')
    .requiredOption('--state <file>', 'state file of the last run; it is updated')
    .option('--identity <id>', 'print only events of this identity (repeatable)', collect, [])
    .action(async ({ state, identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const before = existsSync(state) ? readSeen(read(state), state) : undefined
      const { key, head } = await fetchHead(settings, before)
      const { peaks, events } = await follow(settings, before?.peaks ?? [], head)
      keep(state, { key, peaks })
      const entries = eventsOf(events, identity)
      if (settings.json) return printJson({ origin: head.origin, size: head.size, events: entries })
      print(head, events.length, entries)
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** Fetches the signed head of the log, and verifies it with the key of the last run. */
async function fetchHead(
  settings: Settings,
  before: WatchState | undefined,
): Promise<{ key: NoteKey; head: Checkpoint }> {
  const key = before?.key ?? (await fetchKey(settings))
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

/** Fetches the new entries and checks that all entries together have the root in the signed head. */
async function follow(
  settings: Settings,
  seen: Subtree[],
  head: Checkpoint,
): Promise<{ peaks: Subtree[]; events: LogEntry[] }> {
  let peaks = seen
  const events: LogEntry[] = []
  const start = sizeOf(seen)
  if (head.size < start)
    throw new CliError(`the log has ${head.size} entries, but had ${start}: it was rolled back or replaced`)
  for (let index = start; index < head.size;) {
    const leaves = await fetchLeaves(settings, index)
    if (leaves.length === 0) throw new CliError(`the server does not return entry ${index} of its log`)
    for (const leaf of leaves.slice(0, head.size - index)) {
      peaks = appendLeaves(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf))).peaks
      const event = parseKeyEvent(leaf)
      if (!event) throw new CliError(`entry ${index} of the log is unknown to this version`)
      events.push({ ...event, index })
      index += 1
    }
  }
  if (Buffer.compare(rootOf(sha256, peaks), head.root) !== 0)
    throw new CliError('the entries do not match the signed log, or the log does not extend the last state')
  return { peaks, events }
}

async function fetchLeaves({ baseUrl }: Settings, start: number): Promise<string[]> {
  const response = await reach(`${baseUrl}/api/transparency/leaves?start=${start}`)
  if (!response.ok) throw new CliError(`${response.url} returned ${response.status}`)
  return listOf(fieldsOf(await parseJsonResponse(response))['leaves']).map((leaf) => textOf(fieldsOf(leaf)['leaf']))
}

function eventsOf(events: LogEntry[], identityIds: string[]): LogEntry[] {
  const digests = identityIds.map((identityId) => identityDigest(sha256, identityId))
  return digests.length === 0 ? events : events.filter(({ identity }) => digests.includes(identity))
}

function print({ origin, size }: Checkpoint, added: number, entries: LogEntry[]): void {
  console.log(`${origin}: ${size} entries, ${added} new. Append-only check passed.`)
  if (entries.length === 0) return
  const rows = entries.map((each) => [String(each.index), each.at, each.event, String(each.keyVersion), each.publicKey])
  printTable([['Leaf', 'Time', 'Event', 'Version', 'Key'], ...rows])
}

function sizeOf(peaks: Subtree[]): number {
  return peaks.reduce((size, { level }) => size + 2 ** level, 0)
}

/** Writes the file atomically: a partial file would look like another log. */
function keep(file: string, { key, peaks }: WatchState): void {
  const subtrees = peaks.map(({ level, hash }) => ({ level, hash: toBase64(hash) }))
  const text = JSON.stringify({ origin: key.name, publicKey: toBase64(key.publicKey), subtrees }, null, 2)
  try {
    writeFileSync(`${file}.new`, `${text}\n`)
    renameSync(`${file}.new`, file)
  } catch (cause) {
    throw new CliError(`${file} cannot be written (${reasonOf(cause)})`, { cause })
  }
}

function readSeen(text: string, file: string): WatchState {
  const { origin, publicKey, subtrees } = fieldsOf(parse(text, file))
  const key = { name: textOf(origin), publicKey: readHash(publicKey, file) }
  let size = 0
  const peaks = listOf(subtrees).map((each): Subtree => {
    const { level, hash } = fieldsOf(each)
    if (typeof level !== 'number' || !Number.isInteger(level)) throw unreadable(file)
    size += 2 ** level
    return { level, index: size / 2 ** level - 1, hash: readHash(hash, file) }
  })
  return { key, peaks }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function readHash(value: unknown, file: string): Uint8Array {
  const bytes = fromCanonicalBase64(textOf(value))
  if (bytes?.length !== 32) throw unreadable(file)
  return bytes
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause?: unknown): CliError {
  return new CliError(`${file} is not a valid state file: restore it, or pass another file to start over`, { cause })
}
