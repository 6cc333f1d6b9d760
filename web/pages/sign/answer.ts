import type { SigningRequest } from '@countersign/protocol/signing/signing'

/** The `data` of the message to the app's page. */
export type Answer =
  | { type: 'countersign:signed'; payload: { requestId: string; signature: string; publicKey: string } }
  | { type: 'countersign:denied'; payload: { requestId: string } }

/** Returns the answer to a request, if there is one. */
export function parseResponse({ requestId, status, signature, publicKey }: SigningRequest): { answer?: Answer } {
  if (status === 'denied') return { answer: { type: 'countersign:denied', payload: { requestId } } }
  if (status !== 'signed' || signature === undefined) return {}
  return { answer: { type: 'countersign:signed', payload: { requestId, signature, publicKey } } }
}

/** Parses an answer to this request from a message of any sender. */
export function parseSigningMessage(data: unknown, requestId: string): Answer | undefined {
  if (typeof data !== 'object' || data === null || !('type' in data) || !('payload' in data)) return undefined
  const { type, payload } = data
  if (typeof payload !== 'object' || payload === null) return undefined
  if (!('requestId' in payload) || payload.requestId !== requestId) return undefined
  if (type === 'countersign:denied') return { type, payload: { requestId } }
  if (type !== 'countersign:signed' || !('signature' in payload) || !('publicKey' in payload)) return undefined
  const { signature, publicKey } = payload
  if (typeof signature !== 'string' || typeof publicKey !== 'string') return undefined
  return { type, payload: { requestId, signature, publicKey } }
}

/**
 * Posts the answer to the page that opened this one, or that shows it in a frame. Browsers deliver it only to the
 * registered origins of the app.
 */
export function postResultToOpener(answer: Answer, origins: string[], { framed }: { framed: boolean }): void {
  const listener = framed ? parent : (opener as Window | null)
  if (!listener) return
  for (const origin of isOurs(listener) ? [...origins, location.origin] : origins) listener.postMessage(answer, origin)
}

/** Returns whether the listener is the frame of this page, which opened this window and passes the answer on. */
function isOurs(listener: Window): boolean {
  try {
    return listener.location.origin === location.origin
  } catch {
    // Access to a page of another origin throws.
    return false
  }
}
