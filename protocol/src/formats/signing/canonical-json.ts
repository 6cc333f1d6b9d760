import { countJsonColons, isObject, jsonMembersMax } from '../json.ts'

/**
 * JSON in exactly one spelling (RFC 8785), for what is signed or hashed. Numbers are safe integers, because only those
 * are the same in every language.
 */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject
export type JsonObject = { readonly [name: string]: Json }

/** Maximum depth. What we sign is flat; a parser of hostile text must not run out of stack. */
const depthMax = 16

/**
 * Writes a value in its canonical form. Throws a `RangeError` for text with half a character, for numbers that are not
 * safe integers, and for more than 16 levels.
 */
export function writeCanonicalJson(value: Json): string {
  return write(value, depthMax)
}

/** Parses a text; returns undefined if it is not JSON in its canonical form, or has more than 5000 members. */
export function parseCanonicalJson(text: string): unknown {
  if (countJsonColons(text) > jsonMembersMax) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return write(value, depthMax) === text ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return undefined
    throw error
  }
}

function write(value: unknown, levels: number): string {
  if (levels === 0) throw new RangeError('The value is nested too deeply.')
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return writeText(value)
  if (Array.isArray(value)) return `[${value.map((each) => write(each, levels - 1)).join()}]`
  if (!isObject(value)) return writeInteger(value)
  // Sorted by UTF-16 code units (RFC 8785 §3.2.3).
  const members = Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return `{${members.map(([name, each]) => `${writeText(name)}:${write(each, levels - 1)}`).join()}}`
}

/** ECMAScript escapes as RFC 8785 §3.2.2.2 requires. */
function writeText(text: string): string {
  if (!text.isWellFormed()) throw new RangeError('The text contains half a character.')
  return JSON.stringify(text)
}

function writeInteger(value: unknown): string {
  if (!Number.isSafeInteger(value)) throw new RangeError('The value is not a safe integer.')
  return String(value)
}
