import { isUtf8 } from 'node:buffer'
import { limits } from '@countersign/protocol/formats/limits'
import { refusals } from '#platform/refusal.ts'

const colon = ':'.charCodeAt(0)
const quote = '"'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)

const refuse = refusals({ invalid_request: [400, 'The request body cannot be read.'] })

/** Parses a JSON body. Refuses `invalid_request` for what is not JSON, too deep, or holds what no text may hold. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined
  const colons = countColons(text)
  // Before it is parsed, which takes ten times as long for so many.
  if (colons > limits.jsonMembersMax) throw refuse.invalid_request({ sentence: 'The body has too many members.' })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refuse.invalid_request({ sentence: 'The body is not valid JSON.' })
  }
  requireSound(value)
  if (colons > countMembers(value)) throw refuse.invalid_request({ sentence: 'A member is given twice.' })
  return value
}

/** The text of a body. Refuses `invalid_request` for what is not UTF-8: two readers may replace it differently. */
export function requireUtf8(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw refuse.invalid_request({ sentence: 'The body is not UTF-8.' })
  return bytes.toString('utf8')
}

/**
 * Whether an object of a JSON text has a member twice, in whatever spelling: two readers may each take another one.
 * `value` is what the text was parsed to, and has each member once; the text has a colon for each that was written.
 */
export function hasMemberTwice(text: string, value: unknown): boolean {
  return countColons(text) > countMembers(value)
}

/** The colons of a valid JSON text outside of its strings. */
function countColons(text: string): number {
  let count = 0
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === colon) count += 1
    else if (character === quote) at = endOfString(text, at)
  }
  return count
}

function endOfString(text: string, begin: number): number {
  for (let at = begin + 1; at < text.length; at += 1) {
    const character = text.charCodeAt(at)
    if (character === quote) return at
    if (character === backslash) at += 1
  }
  return text.length
}

function countMembers(value: unknown): number {
  let count = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const part = open.pop()
    if (typeof part !== 'object' || part === null) continue
    const parts: unknown[] = Object.values(part)
    if (!Array.isArray(part)) count += parts.length
    for (const each of parts) open.push(each)
  }
  return count
}

/**
 * Parses `application/x-www-form-urlencoded` to an object of strings. Refuses a parameter that comes twice, but for
 * those that may come several times: they become one list, with spaces between.
 */
export function parseForm(text: string, several: string[] = []): Record<string, string> {
  const form: Record<string, string> = {}
  let isReplaced = false
  for (const [name, sent] of new URLSearchParams(text)) {
    isReplaced ||= sent.includes(replacement) || name.includes(replacement)
    const earlier = Object.hasOwn(form, name) ? form[name] : undefined
    const value = earlier === undefined ? sent : `${earlier} ${sent}`
    if (earlier !== undefined && !several.includes(name))
      throw refuse.invalid_request({ sentence: 'A parameter is given twice.' })
    requireName(name)
    requireText(sent)
    form[name] = value
  }
  if (isReplaced) requireEncodedUtf8(text)
  return form
}

const replacement = '\ufffd'

/** Refuses percent-encoded bytes that are not UTF-8, which the platform replaces, all by the same character. */
function requireEncodedUtf8(text: string): void {
  for (const [encoded] of text.matchAll(/(?:%[\da-f]{2})+/gi))
    if (!isUtf8(Buffer.from(encoded.replaceAll('%', ''), 'hex')))
      throw refuse.invalid_request({ sentence: 'The body is not UTF-8.' })
}

/** A field by its standard or its legacy name; sent under both, the values must be equal. */
export function either(standard: string | undefined, legacy: string | undefined): string | undefined {
  if (standard !== undefined && legacy !== undefined && standard !== legacy)
    throw refuse.invalid_request({ sentence: 'A field is sent in both spellings with different values.' })
  return standard ?? legacy
}

/**
 * Refuses what would break or change further in: nesting that exhausts a stack, numbers that are not finite, keys that
 * reach prototypes, U+0000 and lone surrogates, which PostgreSQL cannot hold.
 */
export function requireSound(value: unknown): void {
  if (isEmpty(value)) return
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > limits.jsonDepthMax) throw refuse.invalid_request({ sentence: 'The body is nested too deeply.' })
    level = level.flatMap(soundParts)
  }
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function soundParts(value: unknown): unknown[] {
  if (typeof value === 'string') requireText(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw refuse.invalid_request({ sentence: 'The body has a number out of range.' })
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value

  Object.keys(value).forEach(requireName)
  return Object.values(value)
}

function requireName(name: string): void {
  requireText(name)
  if (name === '__proto__') throw refuse.invalid_request({ sentence: 'The body has a key that is not allowed.' })
}

function requireText(text: string): void {
  if (text.includes('\0') || !text.isWellFormed())
    throw refuse.invalid_request({ sentence: 'A text holds U+0000 or half of a character.' })
}
