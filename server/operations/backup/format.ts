import { createHash } from 'node:crypto'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { refusals } from '#platform/refusal.ts'

const refuse = refusals({ invalid_backup: [400, 'This is no backup, or it was cut or altered. Nothing was changed.'] })

/**
 * A backup is lines: the header, then for each table its mark and its rows, then the end. Rows are objects as
 * PostgreSQL writes them and marks are arrays, so the first character of a line tells what it is.
 */
const Header = Type.Tuple([
  Type.Literal('countersign backup'),
  Type.Object({
    format: Type.Literal(1),
    schema: Type.String(),
    takenAt: Type.String({ format: 'date-time' }),
    /** A sealed text: it opens under the same SECRET_KEY, and no other. */
    keyCheck: Type.String(),
  }),
])
const TableMark = Type.Tuple([Type.Literal('table'), Type.String()])
const End = Type.Tuple([
  Type.Literal('end'),
  Type.Object({ rows: Type.Record(Type.String(), Type.Integer()), sha256: Type.String() }),
])

export type Header = Static<typeof Header>[1]
export type Rows = Record<string, number>

/** Makes the lines of a backup, and keeps the count and the digest with which they end. */
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

/** What a line of a backup says. */
export type Line = { header: Header } | { table: string } | { row: string } | { end: Rows; sha256: string }

/** Reads the lines of a backup. Refuses `invalid_backup` at what is none, and where the end is missing or wrong. */
export async function* readBackup(lines: AsyncIterable<string>): AsyncGenerator<Line> {
  const digest = createHash('sha256')
  const rows: Rows = {}
  let table: string | undefined
  let ended = false
  for await (const text of lines) {
    const line = parseLine(text)
    if (ended || !line) throw refuse.invalid_backup()
    if ('table' in line) {
      table = line.table
      rows[table] ??= 0
    }
    if ('row' in line) {
      if (table === undefined) throw refuse.invalid_backup()
      rows[table] = (rows[table] ?? 0) + 1
    }
    if ('end' in line) {
      ended = line.sha256 === digest.digest('hex') && Value.Equal(line.end, rows)
      if (!ended) throw refuse.invalid_backup()
    }
    yield line
    if (!ended) digest.update(`${text}\n`)
  }
  if (!ended) throw refuse.invalid_backup()
}

/** A line by its first character: a row as it is, and a mark as what it says. */
function parseLine(text: string): Line | undefined {
  if (text.startsWith('{')) return { row: text }
  const mark = text.length > markCharactersMax ? undefined : parseMark(text)
  if (Value.Check(TableMark, mark)) return { table: mark[1] }
  if (Value.Check(Header, mark)) return { header: mark[1] }
  if (Value.Check(End, mark)) return { end: mark[1].rows, sha256: mark[1].sha256 }
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

/** Splits at newlines alone: names may contain what other readers of lines take for an end, such as U+2028. */
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
    if (characters > lineCharactersMax) throw refuse.invalid_backup()
  }
  if (characters > 0) yield rest.join('')
}
