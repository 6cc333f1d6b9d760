import { hasMemberTwice } from '#platform/http/parse.ts'
import type { Refusal } from '#platform/refusal.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Refuses a ceremony that ran inside a frame of another origin (WebAuthn §7.1 step 11, §7.2 step 14): our pages are
 * never framed, so such a frame is not ours.
 */
export function requireSameFrame(clientDataJson: string, refuse: () => Refusal): void {
  const clientData = parse(Buffer.from(clientDataJson, 'base64url'))
  if (typeof clientData !== 'object' || clientData === null) throw refuse()
  if ('crossOrigin' in clientData && clientData.crossOrigin !== false) throw refuse()
  if ('topOrigin' in clientData) throw refuse()
}

/** Reads JSON, after a byte order mark if there is one (§7.1 step 5). */
function parse(bytes: Uint8Array): unknown {
  try {
    const text = utf8.decode(bytes)
    const value: unknown = JSON.parse(text)
    return hasMemberTwice(text, value) ? undefined : value
  } catch {
    // What is not JSON is no client data; the caller refuses it.
    return undefined
  }
}
