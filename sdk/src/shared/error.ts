type Refusal = { code: string; description: string; status?: number; retryAfterSeconds?: number }

/** Known to every copy of this file: each part of the SDK is one file by itself, and has the class inside. */
const brand = Symbol.for('countersign.error')

/**
 * Why something did not come about. `code` is the service's, such as `identity_not_found`, or one of ours: `no_answer`
 * (nothing came back in time), `unexpected_answer` (what came back is not of the interface), `invalid_signature` (the
 * service says that the request is signed, and it is not), `cannot_open` (a ciphertext or an app key is for another
 * key or context, was altered, or is none), `public_key_changed` (somebody's key is another one than was expected),
 * `cannot_verify` (whether a token is good can't be told now), `not_begun_here` (a sign-in came back that this tab has
 * not begun), `authentication_too_old` (the person has not authenticated as recently as was asked for), `refused` (the
 * browser's own dialog was refused, and does not tell why: most likely the page is none of the app's), `no_storage`
 * (this browser lets the page keep nothing, which a sign-in takes). Where a token is refused, the code is that of RFC
 * 6750. `instanceof` holds for the errors of all parts of the SDK, whichever this is imported from.
 */
export class CountersignError extends Error {
  override readonly name = 'CountersignError'
  readonly code: string
  readonly description: string
  /** The HTTP status, where there was an answer. */
  readonly status: number | undefined
  /** When to try again, where the service says so. */
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
