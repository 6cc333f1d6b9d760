import { fromCanonicalBase64Url } from './base64.ts'

/** Parses a JSON object in base64url; returns undefined for anything else. */
export function parseJsonObject(base64Url: string): Record<string, unknown> | undefined {
  const bytes = fromCanonicalBase64Url(base64Url)
  const value = bytes && parse(bytes)
  return isObject(value) ? value : undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    // Invalid UTF-8 or JSON, which both throw.
    return undefined
  }
}
