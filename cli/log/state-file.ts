import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { readAuditHead, writeAuditHead, type AuditHeadState } from '@countersign/protocol/formats/audit/audit-head'
import { fromCanonicalBase64, toBase64 } from '@countersign/protocol/formats/base64'
import type { NoteKey } from '@countersign/protocol/formats/signing/checkpoint'
import type { Subtree } from '@countersign/protocol/formats/signing/merkle-tree'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { reasonOf } from '../call.ts'
import { CliError, fieldsOf, listOf, textOf } from '../terminal.ts'
import { KeyStates } from './key-states.ts'

/**
 * The log, the roots of the subtrees over all entries seen so far, the last state of each identity, and the last head
 * of the audit log.
 */
export type WatchState = {
  key: NoteKey
  peaks: Subtree[]
  identities: KeyStates
  audit: AuditHeadState | undefined
}

/** Writes the file atomically: a partial file would look like another log. Its first line is JSON; records follow. */
export function writeState(file: string, { key, peaks, identities, audit }: WatchState): void {
  const subtrees = peaks.map(({ level, hash }) => ({ level, hash: toBase64(hash) }))
  const digest = createHash('sha256')
  for (const piece of identities.pieces()) digest.update(piece)
  const records = { identities: identities.count, recordsSha256: digest.digest('base64') }
  const log = {
    origin: key.name,
    publicKey: toBase64(key.publicKey),
    subtrees,
    ...records,
    ...(audit && { audit: writeAuditHead(audit) }),
  }
  try {
    const written = openSync(`${file}.new`, 'w', 0o600)
    writeSync(written, `${JSON.stringify(log)}\n`)
    for (const piece of identities.pieces()) writeWhole(written, piece)
    fsyncSync(written)
    closeSync(written)
    renameSync(`${file}.new`, file)
  } catch (cause) {
    throw new CliError(`${file} cannot be written (${reasonOf(cause)})`, { cause })
  }
}

function writeWhole(file: number, bytes: Buffer): void {
  for (let start = 0; start < bytes.length;) start += writeSync(file, bytes, start)
}

/** Reads a state file. Throws `CliError` for any other file. */
export function readState(file: string): WatchState {
  const bytes = read(file)
  const end = bytes.indexOf('\n')
  const {
    origin,
    publicKey,
    subtrees,
    identities: count,
    recordsSha256,
    audit,
  } = fieldsOf(parse(bytes.toString('utf8', 0, end), file))
  const key = { name: textOf(origin), publicKey: readHash(publicKey, file) }
  let size = 0
  const peaks = listOf(subtrees).map((each): Subtree => {
    const { level, hash } = fieldsOf(each)
    if (typeof level !== 'number' || !Number.isInteger(level)) throw unreadable(file)
    size += 2 ** level
    return { level, index: size / 2 ** level - 1, hash: readHash(hash, file) }
  })
  const records = bytes.subarray(end + 1)
  // A damaged record would look like an entry that contradicts the history of its identity.
  if (createHash('sha256').update(records).digest('base64') !== recordsSha256) throw unreadable(file)
  const identities = readRecords(records, file)
  if (identities.count !== count) throw unreadable(file)
  return { key, peaks, identities, audit: readHead(audit, file) }
}

function readHead(value: unknown, file: string): AuditHeadState | undefined {
  if (value === undefined) return undefined
  const state = readAuditHead(nodeSuite.sha256, textOf(value))
  if (!state) throw unreadable(file)
  return state
}

function readRecords(bytes: Buffer, file: string): KeyStates {
  try {
    return KeyStates.readAll(bytes)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
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
