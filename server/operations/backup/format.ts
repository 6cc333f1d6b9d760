import { createHash, randomUUID } from 'node:crypto'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { defineErrors } from '#platform/api-error.ts'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'

const errors = defineErrors({
  invalid_backup: [400, 'Not a valid backup, or it is truncated or corrupted. Nothing was changed.'],
  insufficient_storage: [507, 'DATA_DIR has not enough space for the backup, or is not writable.'],
})

/**
 * Format of a backup: lines with the header, then for each table its mark and its rows, then the end. Rows are objects
 * as PostgreSQL writes them and marks are arrays, so the first character of a line tells the two apart.
 */
const Header = Type.Tuple([
  Type.Literal('countersign backup'),
  Type.Object({
    format: Type.Literal(1),
    schema: Type.String(),
    takenAt: Type.String({ format: 'date-time' }),
    /** Sealed text that only opens under the same SECRET_KEY. */
    keyCheck: Type.String(),
  }),
])
const TableMark = Type.Tuple([Type.Literal('table'), Type.String()])
const EndMark = Type.Tuple([
  Type.Literal('end'),
  Type.Object({ rows: Type.Record(Type.String(), Type.Integer()), sha256: Type.String() }),
])

export type Header = Static<typeof Header>[1]
export type Rows = Record<string, number>

/** Creates a writer for the lines of a backup, which tracks the row count and the digest of the last line. */
export function backupWriter() {
  const digest = createHash('sha256')
  const rows: Rows = {}
  const written = (lines: string[]) => {
    const text = `${lines.join('\n')}\n`
    digest.update(text)
    return text
  }
  return {
    header: (header: Header) => written([JSON.stringify(['countersign backup', header])]),
    table(table: string) {
      rows[table] = 0
      return written([JSON.stringify(['table', table])])
    },
    rows(table: string, lines: string[]) {
      rows[table] = (rows[table] ?? 0) + lines.length
      return written(lines)
    },
    end: () => `${JSON.stringify(['end', { rows, sha256: digest.digest('hex') }])}\n`,
  }
}

/** Parsed line of a backup. */
export type Line = { header: Header } | { table: string } | { row: string } | { end: Rows; sha256: string }

/** Parses the lines of a backup. Throws `invalid_backup` for other content, and if the end is missing or wrong. */
export async function* parseBackup(lines: AsyncIterable<string>): AsyncGenerator<Line> {
  const digest = createHash('sha256')
  const rows: Rows = {}
  let table: string | undefined
  let ended = false
  for await (const text of lines) {
    const line = parseLine(text)
    if (ended || !line) throw errors.invalid_backup()
    if ('table' in line) {
      table = line.table
      rows[table] ??= 0
    }
    if ('row' in line) {
      if (table === undefined) throw errors.invalid_backup()
      rows[table] = (rows[table] ?? 0) + 1
    }
    if ('end' in line) {
      ended = line.sha256 === digest.digest('hex') && isDeepStrictEqual(line.end, rows)
      if (!ended) throw errors.invalid_backup()
    }
    yield line
    if (!ended) digest.update(`${text}\n`)
  }
  if (!ended) throw errors.invalid_backup()
}

/** Parses a line by its first character: a row stays text, a mark is parsed. */
function parseLine(text: string): Line | undefined {
  if (text.startsWith('{')) return { row: text }
  const mark = text.length > markCharactersMax ? undefined : parseMark(text)
  if (Check(TableMark, mark)) return { table: mark[1] }
  if (Check(Header, mark)) return { header: mark[1] }
  if (Check(EndMark, mark)) return { end: mark[1].rows, sha256: mark[1].sha256 }
  return undefined
}

function parseMark(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const lineCharactersMax = 1024 * 1024
const markCharactersMax = 64 * 1024

/** Splits at newlines only: names may contain characters that other line readers treat as line ends, such as U+2028. */
export async function* splitLines(text: AsyncIterable<string>): AsyncGenerator<string> {
  let rest: string[] = []
  let characters = 0
  for await (const piece of text) {
    const [first = '', ...lines] = piece.split('\n')
    rest.push(first)
    characters += first.length
    if (lines.length > 0) {
      yield rest.join('')
      rest = [lines.pop() ?? '']
      characters = rest[0]?.length ?? 0
      yield* lines
    }
    if (characters > lineCharactersMax) throw errors.invalid_backup()
  }
  if (characters > 0) yield rest.join('')
}

const silenceMilliseconds = 30_000
const withoutRoom = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM'])

/**
 * Buffers a backup between the database and the caller's network, so that neither waits for the other. Writes into a
 * file in `directory` and returns how to read it.
 *
 * The file has no name, so it disappears with the process. Throws `insufficient_storage`.
 */
export async function spool(directory: string, write: (file: FileHandle) => Promise<void>): Promise<Readable> {
  const file = await openNameless(directory)
  try {
    await write(file)
  } catch (error) {
    await file.close()
    throw hasNoRoom(error) ? errors.insufficient_storage() : error
  }
  return file.createReadStream({ start: 0 })
}

/** Receives a body for as long as data keeps arriving. Throws `invalid_backup` if it stops. */
export function spoolRequestBody(directory: string, body: Readable): Promise<Readable> {
  return spool(directory, (file) => file.writeFile(arriving(body)))
}

/** Yields the chunks of a body. A body that is not read to its end stays open, so that its sender gets the error. */
async function* arriving(body: Readable): AsyncGenerator<Buffer> {
  const silence = setTimeout(() => body.destroy(new Error('no data received')), silenceMilliseconds)
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      silence.refresh()
      yield chunk
    }
  } catch {
    throw errors.invalid_backup({ sentence: 'The backup upload was interrupted. Nothing was changed.' })
  } finally {
    clearTimeout(silence)
  }
}

async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `backup-${randomUUID()}`)
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    const file = await open(path, 'wx+', 0o600)
    await rm(path)
    return file
  } catch (error) {
    throw hasNoRoom(error) ? errors.insufficient_storage() : error
  }
}

function hasNoRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && withoutRoom.has(String(error.code))
}
