/**
 * Parses the URL of a host of the service. TLS is required, because the content must not be read or altered on its way.
 */
export function parseBaseUrl(name: string, text: string): URL {
  const url = new URL(text)
  const isHere = url.protocol === 'http:' && /^(?:(?:[\w-]+\.)*localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url.protocol !== 'https:' && !isHere) throw new TypeError(`${name} must begin with https:, or be on localhost`)
  return url
}

type Refusal = { code: string; description: string; status?: number; retryAfterSeconds?: number }

/**
 * A registered symbol, shared by all copies of this file: each entry point of the SDK is one file with its own class.
 */
const brand = Symbol.for('countersign.error')

/**
 * An error of the SDK. `code` is that of the service, such as `identity_not_found`, or one of the SDK: `network_error`
 * (no response in time), `unexpected_response` (the response does not match the interface), `invalid_signature` (the
 * service reports a signature that does not verify), `decryption_failed` (a ciphertext or app key is for another key or
 * context, was altered, or is invalid), `public_key_changed` (a user's key differs from the expected one),
 * `verification_unavailable` (a token cannot be checked now), `state_mismatch` (the sign-in response does not match a
 * request from this tab), `authentication_too_old` (the user's authentication is older than requested), `refused` (the
 * browser's dialog failed without a reason; most likely the page's origin is not registered), `storage_unavailable`
 * (the browser blocks storage, which a sign-in needs), `trust_store_failed` (the app's trust store failed), and those
 * of verification with `trust` (docs/security/trust.md#verification-in-apps). For a rejected token the code is that of
 * RFC 6750. `instanceof` works for errors of all entry points of the SDK.
 */
export class CountersignError extends Error {
  override readonly name = 'CountersignError'
  readonly code: string
  readonly description: string
  /** The HTTP status, if there was a response. */
  readonly status: number | undefined
  /** Seconds until the next attempt, if the service sent that. */
  readonly retryAfterSeconds: number | undefined

  static override [Symbol.hasInstance](value: unknown): boolean {
    if (this !== CountersignError) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && brand in value
  }

  constructor({ code, description, status, retryAfterSeconds }: Refusal, options?: ErrorOptions) {
    super(`${code}: ${description}`, options)
    this.code = code
    this.description = description
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
  }

  get [brand](): true {
    return true
  }
}
