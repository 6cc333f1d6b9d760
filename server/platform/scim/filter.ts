import { attributeKey, errors } from './message.ts'

/** Limits of a filter. Its cost grows with its comparisons. */
export const filterLimits = { charactersMax: 4096, depthMax: 16, comparisonsMax: 64 } as const

const operators = ['eq', 'ne', 'co', 'sw', 'ew', 'gt', 'ge', 'lt', 'le'] as const
export type Comparison = (typeof operators)[number]
export type FilterValue = string | number | boolean | null

/** Path of an attribute in lower case, without the schema: `username`, `name.givenname`. */
export type AttributePath = { name: string; part: string | undefined }

/** A filter (RFC 7644 §3.4.2.2). `element` matches one value of a multi-valued attribute: `emails[type eq "work"]`. */
export type Filter =
  | { kind: 'compare'; path: AttributePath; operator: Comparison; value: FilterValue }
  | { kind: 'present'; path: AttributePath }
  | { kind: 'and' | 'or'; filters: Filter[] }
  | { kind: 'not'; filter: Filter }
  | { kind: 'element'; name: string; filter: Filter }

/** Target of an operation (RFC 7644 §3.5.2): an attribute, or of a multi-valued one the values that match a filter. */
export type PatchPath = AttributePath & { filter: Filter | undefined }

/** Parses a filter in one pass. Throws `invalidFilter`. */
export function parseFilter(text: string): Filter {
  return parse(text, (reader) => readOr(reader, 0, false))
}

/** Parses the path of an operation. Throws `invalidFilter`. */
export function parsePatchPath(text: string): PatchPath {
  return parse(text, (reader) => {
    const path = readPath(reader)
    if (!take(reader, '[')) return { ...path, filter: undefined }
    if (path.part !== undefined) throw errors.invalidFilter()
    const filter = readElement(reader, 0)
    const part = take(reader, '.') ? attributeKey(readWord(reader)) : undefined
    return { name: path.name, part, filter }
  })
}

type Reader = { text: string; at: number; comparisons: number }

function parse<Result>(text: string, read: (reader: Reader) => Result): Result {
  if (Buffer.byteLength(text) > filterLimits.charactersMax)
    throw errors.invalidFilter({ sentence: `A filter has at most ${filterLimits.charactersMax} bytes.` })
  const reader = { text, at: 0, comparisons: 0 }
  const result = read(reader)
  skipSpaces(reader)
  if (reader.at < text.length) throw errors.invalidFilter()
  return result
}

function readOr(reader: Reader, depth: number, isInElement: boolean): Filter {
  if (depth > filterLimits.depthMax)
    throw errors.invalidFilter({ sentence: `A filter has at most ${filterLimits.depthMax} nested parts.` })
  return readSeveral(reader, 'or', () => readSeveral(reader, 'and', () => readTerm(reader, depth, isInElement)))
}

function readSeveral(reader: Reader, kind: 'and' | 'or', readOne: () => Filter): Filter {
  const first = readOne()
  const filters = [first]
  while (takeWord(reader, kind)) filters.push(readOne())
  return filters.length === 1 ? first : { kind, filters }
}

function readTerm(reader: Reader, depth: number, isInElement: boolean): Filter {
  if (take(reader, '(')) return readGroup(reader, depth, isInElement)
  const start = reader.at
  if (takeWord(reader, 'not')) {
    if (take(reader, '(')) return { kind: 'not', filter: readGroup(reader, depth, isInElement) }
    reader.at = start
  }
  const path = readPath(reader)
  if (take(reader, '[')) {
    if (isInElement || path.part !== undefined) throw errors.invalidFilter()
    return { kind: 'element', name: path.name, filter: readElement(reader, depth) }
  }
  return readComparison(reader, path)
}

function readGroup(reader: Reader, depth: number, isInElement: boolean): Filter {
  const filter = readOr(reader, depth + 1, isInElement)
  if (!take(reader, ')')) throw errors.invalidFilter()
  return filter
}

function readElement(reader: Reader, depth: number): Filter {
  const filter = readOr(reader, depth + 1, true)
  if (!take(reader, ']')) throw errors.invalidFilter()
  return filter
}

function readComparison(reader: Reader, path: AttributePath): Filter {
  reader.comparisons += 1
  if (reader.comparisons > filterLimits.comparisonsMax)
    throw errors.invalidFilter({ sentence: `A filter has at most ${filterLimits.comparisonsMax} comparisons.` })
  const word = readWord(reader).toLowerCase()
  if (word === 'pr') return { kind: 'present', path }
  const operator = operators.find((each) => each === word)
  if (!operator) throw errors.invalidFilter()
  return { kind: 'compare', path, operator, value: readValue(reader) }
}

/** Reads an attribute, with its schema if it has one, and its part. Attributes of other schemas are unknown. */
function readPath(reader: Reader): AttributePath {
  const [name = '', part, ...more] = attributeKey(readWord(reader)).split('.')
  if (more.length > 0 || !isName(name) || (part !== undefined && !isName(part))) throw errors.invalidFilter()
  return { name, part }
}

const name = /^\$?[a-z][a-z0-9_-]*$/

function isName(text: string): boolean {
  return name.test(text)
}

// Sticky, so that each reads from where the reader is, and never again what was read.
const spaces = /[ \t]*/y
const word = /[A-Za-z$][\w$:.-]*/y
const string = /"(?:[^"\\]|\\.)*"/y
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

function match(reader: Reader, pattern: RegExp): string | undefined {
  pattern.lastIndex = reader.at
  const found = pattern.exec(reader.text)?.[0]
  if (found !== undefined) reader.at += found.length
  return found
}

function skipSpaces(reader: Reader): void {
  match(reader, spaces)
}

function take(reader: Reader, character: string): boolean {
  skipSpaces(reader)
  if (reader.text[reader.at] !== character) return false
  reader.at += 1
  return true
}

function readWord(reader: Reader): string {
  skipSpaces(reader)
  const found = match(reader, word)
  if (found === undefined) throw errors.invalidFilter()
  return found
}

/** Takes a word in any letter case, if it is next. */
function takeWord(reader: Reader, expected: string): boolean {
  skipSpaces(reader)
  const start = reader.at
  if (match(reader, word)?.toLowerCase() === expected) return true
  reader.at = start
  return false
}

const words: ReadonlyMap<string, FilterValue> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
])

function readValue(reader: Reader): FilterValue {
  skipSpaces(reader)
  const quoted = match(reader, string)
  if (quoted !== undefined) return unquote(quoted)
  const digits = match(reader, number)
  if (digits !== undefined) return Number(digits)
  const value = words.get(readWord(reader).toLowerCase())
  if (value === undefined) throw errors.invalidFilter()
  return value
}

/** Parses a quoted string, which has JSON syntax. The database stores no NUL and no lone surrogate. */
function unquote(quoted: string): string {
  let text: unknown
  try {
    text = JSON.parse(quoted)
  } catch {
    throw errors.invalidFilter()
  }
  if (typeof text !== 'string' || !text.isWellFormed() || text.includes('\0')) throw errors.invalidFilter()
  return text
}
