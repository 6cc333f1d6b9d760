import type { SigningRequest } from '@countersign/protocol/signing/signing'

/** What the app's page is told, as `data` of a message. */
export type Answer =
  | { type: 'countersign:signed'; payload: { requestId: string; signature: string; publicKey: string } }
  | { type: 'countersign:denied'; payload: { requestId: string } }

/** The answer that a request has got, if it has. */
export function answerOf({ requestId, status, signature, publicKey }: SigningRequest): { answer?: Answer } {
  if (status === 'denied') return { answer: { type: 'countersign:denied', payload: { requestId } } }
  if (status !== 'signed' || signature === undefined) return {}
  return { answer: { type: 'countersign:signed', payload: { requestId, signature, publicKey } } }
}

/** Reads an answer to this request out of a message, whoever sent it. */
export function readAnswer(data: unknown, requestId: string): Answer | undefined {
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
 * Tells the page that opened this one, or that shows it in a frame. The browser delivers it only where that page is of
 * an origin at which the app is registered; to any other it says nothing.
 */
export function tellApp(answer: Answer, origins: string[], { framed }: { framed: boolean }): void {
  const listener = framed ? parent : (opener as Window | null)
  if (!listener) return
  for (const origin of isOurs(listener) ? [...origins, location.origin] : origins) listener.postMessage(answer, origin)
}

/** Whether it is the frame of this very page, which has sent the person here and passes the answer on. */
function isOurs(listener: Window): boolean {
  try {
    return listener.location.origin === location.origin
  } catch {
    // A browser says so by throwing: that page is of another origin.
    return false
  }
}
