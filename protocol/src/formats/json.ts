import { fromCanonicalBase64Url } from './base64.ts'

/**
 * Maximum number of members in one text, in all its objects together. It is checked before parsing: the cost of each
 * grows with their number.
 */
export const jsonMembersMax = 5000

/**
 * Parses a JSON object in base64url; returns undefined for anything else, also for one with too many members. What a
 * trusted signer wrote may have any number.
 */
export function parseJsonObject(base64Url: string, membersMax = jsonMembersMax): Record<string, unknown> | undefined {
  const bytes = fromCanonicalBase64Url(base64Url)
  const value = bytes && parse(bytes, membersMax)
  return isObject(value) ? value : undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parse(bytes: Uint8Array, membersMax: number): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return countJsonColons(text) > membersMax ? undefined : JSON.parse(text)
  } catch {
    // Invalid UTF-8 or JSON, which both throw.
    return undefined
  }
}

const colon = ':'.charCodeAt(0)
const quote = '"'.charCodeAt(0)
const backslash = '\\'.charCodeAt(0)

/**
 * Counts the colons of a valid JSON text outside of strings: as many as members are written. This is much cheaper than
 * parsing.
 */
export function countJsonColons(text: string): number {
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
