/** What this tab keeps of a request while the person is away signing in. */
export type Sent = { state: string; nonce: string; verifier: string }

/** What came back to the redirect URI, judged. Only `code` may be redeemed. */
export type Callback =
  | { kind: 'none' }
  | { kind: 'code'; code: string; sent: Sent }
  | { kind: 'refusal'; error: string; description: string }
  | { kind: 'unasked' | 'wrongState' | 'wrongIssuer' | 'declined' }

/**
 * Reads an authorization response (RFC 6749 §4.1.2). Before anything of it is believed it must answer the request of
 * this tab (`state`, RFC 6749 §10.12) and come from the issuer that was asked (`iss`, RFC 9207 §2.4).
 */
export function readCallback(search: string, sent: Sent | undefined, issuer: string): Callback {
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

/** What was kept, if it is whole. */
export function readSent(kept: string | null): Sent | undefined {
  const value: unknown = JSON.parse(kept ?? 'null')
  return isSent(value) ? value : undefined
}

function isSent(value: unknown): value is Sent {
  if (typeof value !== 'object' || value === null) return false
  return ['state', 'nonce', 'verifier'].every((key) => typeof Reflect.get(value, key) === 'string')
}
