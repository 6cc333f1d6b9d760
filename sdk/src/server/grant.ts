import { encode as toBase64Url } from 'jose/base64url'
import { isRecord } from '../shared/exchange.ts'

/** What a page alone knows of a sign-in: that it is the one that asked, and for which answer it did. */
export type Proof = {
  /** RFC 7636 §4.1. */
  codeVerifier: string
  /** Comes back in the ID token (OpenID Connect Core §3.1.2.1). */
  nonce: string
}

/**
 * What a sign-in gives: an assertion of the browser's own dialog, or the code of a redirect, with what it takes to
 * redeem it once, within a minute, and how old the authentication may be where the page asked for that. JSON as it is,
 * so that a page can hand it to its server.
 */
export type Grant = Proof & ({ assertion: string } | { code: string; redirectUri: string; maxAge?: number | undefined })

const charactersMax = 32_768

/** Fresh values for one sign-in, 256 random bits each. */
export function newProof(): Proof {
  return { codeVerifier: randomText(), nonce: randomText() }
}

/** RFC 7636 §4.2, `S256`. */
export async function challengeOf({ codeVerifier }: Proof): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
  return toBase64Url(new Uint8Array(digest))
}

export function randomText(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)))
}

/** What somebody sent, if it is a grant. */
export function readGrant(sent: unknown): Grant | undefined {
  if (!isRecord(sent)) return undefined
  const { codeVerifier, nonce, assertion, code, redirectUri, maxAge } = sent
  if (!isText(codeVerifier) || !isText(nonce)) return undefined
  if (isText(assertion)) return { assertion, codeVerifier, nonce }
  if (!isText(code) || !isText(redirectUri) || (maxAge !== undefined && !isMaxAge(maxAge))) return undefined
  return { code, redirectUri, codeVerifier, nonce, maxAge }
}

/** Whether it is a number of seconds that `max_age` may be (OpenID Connect Core §3.1.2.1). */
export function isMaxAge(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= charactersMax
}
