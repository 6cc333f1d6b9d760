import type { Refusal } from '#kernel/refusal.ts'

/**
 * Refuses a ceremony that ran inside a frame of another origin (WebAuthn §7.1 step 11, §7.2 step 14): our pages are
 * never framed, so such a frame is not ours.
 */
export function requireSameFrame(clientDataJson: string, refuse: () => Refusal): void {
  const clientData = parse(
    Buffer.from(clientDataJson, 'base64url')
      .toString('utf8')
      .replace(/^\ufeff/, ''),
  )
  if (typeof clientData !== 'object' || clientData === null) throw refuse()
  if ('crossOrigin' in clientData && clientData.crossOrigin !== false) throw refuse()
  if ('topOrigin' in clientData) throw refuse()
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    // What is not JSON is no client data; the caller refuses it.
    return undefined
  }
}
