import type { PlaygroundView } from '@countersign/protocol/pages'
import { challengeOf, scope } from './authorization-request.ts'
import type { TourStep } from './tour.ts'

/** The state of a request that this tab stores while the user signs in. */
export type PendingRequest = { state: string; nonce: string; verifier: string; step?: TourStep }

/**
 * A checked authorization response. Only the one with a `code` can be redeemed. `sealedKey` is an app key, encrypted to
 * a key of this browser.
 */
export type Callback =
  | { kind: 'none' }
  | { kind: 'code'; code: string; sent: PendingRequest; sealedKey?: string | undefined }
  | { kind: 'refusal'; error: string; description: string }
  | { kind: 'unasked' | 'wrongState' | 'wrongIssuer' | 'wrongKey' | 'declined' }

/**
 * Parses an authorization response (RFC 6749 §4.1.2). The response must match the request of this tab (`state`, RFC
 * 6749 §10.12) and come from the expected issuer (`iss`, RFC 9207 §2.4).
 */
export function parseCallback(search: string, sent: PendingRequest | undefined, issuer: string): Callback {
  const answer = new URLSearchParams(search)
  const code = answer.get('code')
  const error = answer.get('error')
  if (code === null && error === null) return { kind: 'none' }
  if (!sent) return { kind: 'unasked' }
  if (answer.get('state') !== sent.state) return { kind: 'wrongState' }
  if (answer.get('iss') !== issuer) return { kind: 'wrongIssuer' }
  if (error !== null) return { kind: 'refusal', error, description: answer.get('error_description') ?? '' }
  return { kind: 'code', code: code ?? '', sent }
}

/** Parses the stored request. Returns undefined unless it is complete. */
export function loadPendingRequest(stored: string | null): PendingRequest | undefined {
  const value: unknown = JSON.parse(stored ?? 'null')
  return isSent(value) ? value : undefined
}

function isSent(value: unknown): value is PendingRequest {
  if (typeof value !== 'object' || value === null) return false
  return ['state', 'nonce', 'verifier'].every((key) => typeof Reflect.get(value, key) === 'string')
}

/** True if this browser supports FedCM. */
export const supportsFedcm = 'IdentityCredential' in globalThis

/**
 * Requests an assertion through the browser's dialog (FedCM §2.2). Returns undefined if there is none: browsers do not
 * disclose the reason, or have shown it to the user.
 */
export async function requestAssertion(
  { clientId, site }: PlaygroundView,
  sent: PendingRequest,
): Promise<string | undefined> {
  const params = { scope, nonce: sent.nonce, codeChallenge: await challengeOf(sent.verifier) }
  const provider = { configURL: `${site.baseUrl}/api/oauth/fedcm/config`, clientId, params, fields: [] }
  const options = { identity: { providers: [provider], mode: 'active' }, mediation: 'optional' as const }
  try {
    const token: unknown = Reflect.get(Object(await navigator.credentials.get(options)), 'token')
    return typeof token === 'string' ? token : undefined
  } catch (error) {
    if (error instanceof DOMException) return undefined
    throw error
  }
}
