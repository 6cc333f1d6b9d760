import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { Checkpoint, NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import { identityDigest, readKeyEvent, type KeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { openCheckpoint } from '@countersign/protocol/formats/signing/logged-key'
import { growTree, hashLeaf, rootOf, type Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/node-suite'
import type { Command } from 'commander'
import { reach, readJson, readText, reasonOf } from '../call.ts'
import { Failure } from '../failure.ts'
import { fieldsOf, listOf, textOf } from '../json.ts'
import { settingsOf, type Settings } from '../settings.ts'
import { printJson, printTable } from '../terminal.ts'
import { fetchLogKeys } from './log-keys.ts'

type Options = { state: string; identity: string[] }

/** What was seen: whose log, and the subtrees that all of its leaves so far are under. */
type Seen = { key: NoteKey; peaks: Subtree[] }

type LoggedEvent = KeyEvent & { index: number }

const { sha256 } = nodeSuite

export function addWatch(log: Command): void {
  log
    .command('watch')
    .description('see that the log of signing keys has only grown since the last time, and tell what is new')
    .requiredOption('--state <file>', 'what was seen the last time; it is written anew')
    .option('--identity <id>', 'tell only the events of this identity; repeatable', collect, [])
    .action(async ({ state, identity }: Options, command: Command) => {
      const settings = settingsOf(command)
      const before = existsSync(state) ? readSeen(read(state), state) : undefined
      const { key, head } = await fetchHead(settings, before)
      const { peaks, events } = await follow(settings, before?.peaks ?? [], head)
      keep(state, { key, peaks })
      const told = eventsOf(events, identity)
      if (settings.json) return printJson({ origin: head.origin, size: head.size, events: told })
      print(head, events.length, told)
    })
}

function collect(value: string, before: string[]): string[] {
  return [...before, value]
}

/** The head of the log, by the key that signed it the last time. */
async function fetchHead(settings: Settings, before: Seen | undefined): Promise<{ key: NoteKey; head: Checkpoint }> {
  const key = before?.key ?? (await fetchKey(settings))
  const response = await reach(`${settings.baseUrl}/api/transparency/checkpoint`)
  if (!response.ok) throw new Failure(`${response.url} answered ${response.status}`)
  const head = openCheckpoint(nodeSuite, await readText(response), key)
  if (!head) throw new Failure(`this is not the log ${key.name}: its checkpoint is not signed by the key of that`)
  return { key, head }
}

async function fetchKey(settings: Settings): Promise<NoteKey> {
  const { keys, origin = '' } = await fetchLogKeys(settings)
  const publicKey = Buffer.from(textOf(fieldsOf(keys[0])['x']), 'base64url')
  if (origin === '' || publicKey.length !== 32) throw new Failure('the server does not tell the key of its log')
  return { name: origin, publicKey }
}

/** Reads the leaves after those that were seen; what they make together must be what the head says. */
async function follow(
  settings: Settings,
  seen: Subtree[],
  head: Checkpoint,
): Promise<{ peaks: Subtree[]; events: LoggedEvent[] }> {
  let peaks = seen
  const events: LoggedEvent[] = []
  const start = sizeOf(seen)
  if (head.size < start)
    throw new Failure(`the log has ${head.size} leaves, and had ${start}: it was taken back, or is another one`)
  for (let index = start; index < head.size;) {
    const leaves = await fetchLeaves(settings, index)
    if (leaves.length === 0) throw new Failure(`the server does not show leaf ${index} of its log`)
    for (const leaf of leaves.slice(0, head.size - index)) {
      peaks = growTree(sha256, peaks, hashLeaf(sha256, Buffer.from(leaf))).peaks
      const event = readKeyEvent(leaf)
      if (!event) throw new Failure(`leaf ${index} of the log is none that this version knows`)
      events.push({ ...event, index })
      index += 1
    }
  }
  if (Buffer.compare(rootOf(sha256, peaks), head.root) !== 0)
    throw new Failure('the leaves are not those that the log has signed, or it does not go on from what was seen')
  return { peaks, events }
}

async function fetchLeaves({ baseUrl }: Settings, start: number): Promise<string[]> {
  const response = await reach(`${baseUrl}/api/transparency/leaves?start=${start}`)
  if (!response.ok) throw new Failure(`${response.url} answered ${response.status}`)
  return listOf(fieldsOf(await readJson(response))['leaves']).map((leaf) => textOf(fieldsOf(leaf)['leaf']))
}

function eventsOf(events: LoggedEvent[], identityIds: string[]): LoggedEvent[] {
  const digests = identityIds.map((identityId) => identityDigest(sha256, identityId))
  return digests.length === 0 ? events : events.filter(({ identity }) => digests.includes(identity))
}

function print({ origin, size }: Checkpoint, added: number, told: LoggedEvent[]): void {
  console.log(`${origin} has ${size} leaves, ${added} of them new; it has only grown.`)
  if (told.length === 0) return
  const rows = told.map((each) => [String(each.index), each.at, each.event, String(each.keyVersion), each.publicKey])
  printTable([['Leaf', 'Told', 'Event', 'Version', 'Key'], ...rows])
}

function sizeOf(peaks: Subtree[]): number {
  return peaks.reduce((size, { level }) => size + 2 ** level, 0)
}

/** Whole or not at all: half a file would look like another log. */
function keep(file: string, { key, peaks }: Seen): void {
  const subtrees = peaks.map(({ level, hash }) => ({ level, hash: toBase64(hash) }))
  const text = JSON.stringify({ origin: key.name, publicKey: toBase64(key.publicKey), subtrees }, null, 2)
  try {
    writeFileSync(`${file}.new`, `${text}\n`)
    renameSync(`${file}.new`, file)
  } catch (cause) {
    throw new Failure(`${file} cannot be written (${reasonOf(cause)})`, { cause })
  }
}

function readSeen(text: string, file: string): Seen {
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

function unreadable(file: string, cause?: unknown): Failure {
  return new Failure(`${file} does not hold what was seen: restore it, or name another file to begin anew`, { cause })
}
