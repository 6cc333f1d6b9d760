import { verifySignature } from '@countersign/keys/key-pair'
import { fromCanonicalBase64Of } from '@countersign/protocol/formats/base64'
import { call } from '../../lib/api/call.ts'

/** A request that the demonstration app has sent. `publicKey` is the key of the user at that time. */
export type SentRequest = { requestId: string; payload: string; publicKey: string; sentAt: Date }

/** What the user has signed, as the window reports it. */
export type SignedAnswer = { signature: string; publicKey: string; at: Date }
export type SigningOutcome = { kind: 'signed'; answer: SignedAnswer } | { kind: 'denied' | 'closed' | 'blocked' }

/** Sends a request to sign a text. Throws `ApiError`. */
export async function requestSignature(sub: string, payload: string): Promise<SentRequest> {
  const body = { identityId: sub, payload }
  const { requestId, publicKey } = await call('POST /api/signing/demo/request', { body })
  return { requestId, publicKey, payload, sentAt: new Date() }
}

export function signingUrl({ requestId }: Pick<SentRequest, 'requestId'>): string {
  return `/sign?requestId=${requestId}`
}

const glanceMilliseconds = 300

/**
 * Opens the page on which the user signs, and waits for its message. Call it in a click handler before the first await:
 * browsers block other windows.
 */
export async function signInWindow(request: Promise<SentRequest>): Promise<SigningOutcome> {
  const popup = open('about:blank', '_blank', 'popup,width=480,height=760')
  try {
    const sent = await request
    if (!popup) return { kind: 'blocked' }
    const outcome = outcomeOf(popup, sent)
    popup.location.replace(signingUrl(sent))
    return await outcome
  } catch (error) {
    popup?.close()
    throw error
  }
}

/** Resolves with the message of the window, or when it was closed without one. */
function outcomeOf(popup: Window, { requestId }: SentRequest): Promise<SigningOutcome> {
  return new Promise((resolve) => {
    const ended = new AbortController()
    const settle = (outcome: SigningOutcome) => {
      ended.abort()
      clearInterval(timer)
      resolve(outcome)
    }
    const timer = setInterval(() => popup.closed && settle({ kind: 'closed' }), glanceMilliseconds)
    const read = ({ source, origin, data }: MessageEvent) => {
      if (source !== popup || origin !== location.origin) return
      const outcome = parseMessage(data, requestId)
      if (outcome) settle(outcome)
    }
    addEventListener('message', read, { signal: ended.signal })
  })
}

/** Parses the message of the signing page about a request. */
export function parseMessage(data: unknown, requestId: string): SigningOutcome | undefined {
  const { type, payload } = Object(data) as Record<string, unknown>
  const { requestId: answered, signature, publicKey } = Object(payload) as Record<string, unknown>
  if (answered !== requestId) return undefined
  if (type === 'countersign:denied') return { kind: 'denied' }
  if (type !== 'countersign:signed' || typeof signature !== 'string' || typeof publicKey !== 'string') return undefined
  return { kind: 'signed', answer: { signature, publicKey, at: new Date() } }
}

export type SignatureCheck = 'signature' | 'key' | 'text' | 'recent'
export type SignatureChecks = Record<SignatureCheck, boolean>

const recentMilliseconds = 15 * 60 * 1000

/** Checks what the app got, as its server would: nothing that the window reports is believed. */
export async function checkSignature(
  { payload, publicKey, sentAt }: SentRequest,
  answer: SignedAnswer,
  shown: string,
): Promise<SignatureChecks> {
  const key = fromCanonicalBase64Of(32, publicKey)
  const signature = fromCanonicalBase64Of(64, answer.signature)
  const message = new TextEncoder().encode(shown)
  return {
    signature: key !== undefined && signature !== undefined && (await verifySignature(key, signature, message)),
    key: answer.publicKey === publicKey,
    text: shown === payload,
    recent: answer.at.getTime() - sentAt.getTime() < recentMilliseconds,
  }
}
