import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { createLocalJWKSet, jwtVerify, type JWTPayload } from 'jose'
import type { Client, Provider } from './environment/provider.ts'
import type { Arrival } from './environment/relying-party.ts'

export type ResponseMode = 'query' | 'form_post'
export type Landing = Arrival & { fragment: string }
export type Tokens = { access_token: string; id_token: string; refresh_token: string; expires_in: number }

/** The claims of an ID token; those that are compared with a later one have types. */
export type SignedIn = JWTPayload & { sub: string; iat: number; authTime: number | undefined }

const visible = /^[\x21-\x7e]+$/
/** The characters allowed in an `error_description` (RFC 6749 §4.1.2.1, §5.2). */
const describable = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/
/** RFC 6749 §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2. */
const bodyErrors = [
  ...['invalid_request', 'invalid_client', 'invalid_grant', 'unauthorized_client', 'unsupported_grant_type'],
  ...['invalid_scope', 'invalid_token', 'insufficient_scope', 'invalid_redirect_uri', 'invalid_target'],
]
const yearSeconds = 365 * 24 * 3600

/**
 * Checks an authorization response, and returns its parameters: in the query or in the form, never in both and never in
 * the fragment; with our `state` and the issuer (RFC 6749 §4.1.2, RFC 9207 §2.4, Form Post Response Mode §2).
 */
export function checkAuthorizationResponse(
  landing: Landing,
  mode: ResponseMode,
  { state, iss }: { state: string; iss: string },
) {
  assert.equal(landing.fragment, '')
  if (mode === 'query') assert.equal(landing.method, 'GET')
  if (mode === 'form_post') {
    assert.equal(landing.method, 'POST')
    assert.match(landing.contentType, /^application\/x-www-form-urlencoded\b/)
    for (const name of ['code', 'error', 'state', 'iss']) assert.ok(!landing.query.has(name), `${name} is in no URL`)
  }
  const answer = mode === 'query' ? landing.query : landing.form
  assert.deepEqual(answer.getAll('state'), state === '' ? [] : [state])
  assert.deepEqual(answer.getAll('iss'), [iss])
  assert.equal(answer.getAll('code').length + answer.getAll('error').length, 1, 'either a code or an error')
  assert.match(answer.get('error_description') ?? '', describable)
  return answer
}

/** Checks a token response (RFC 6749 §5.1), and that its values cannot be guessed (§10.10). */
export async function checkTokenResponse(response: Response): Promise<Tokens> {
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/)
  assert.match(response.headers.get('cache-control') ?? '', /\bno-store\b/)
  assert.match(response.headers.get('pragma') ?? '', /\bno-cache\b/)
  const { access_token, id_token, refresh_token = '', token_type, expires_in } = await response.json()
  assert.equal(String(token_type).toLowerCase(), 'bearer')
  assert.ok(Number.isInteger(expires_in) && expires_in > 0)
  for (const token of [access_token, refresh_token].filter((each) => each !== '')) {
    assert.match(token, visible)
    assert.ok(entropyBits(token) >= 96, `${entropyBits(token)} bits`)
  }
  return { access_token, id_token, refresh_token, expires_in }
}

/** Checks an ID token (OpenID Connect Core §2, §3.1.3.6, §3.1.3.7). */
export async function checkIdToken(
  { issuer, readKeys, clock }: Pick<Provider, 'issuer' | 'readKeys' | 'clock'>,
  { id_token, access_token }: Pick<Tokens, 'id_token' | 'access_token'>,
  { client, nonce }: { client: Client; nonce: string | undefined },
): Promise<SignedIn> {
  const keys = await readKeys()
  const { payload, protectedHeader } = await jwtVerify(id_token, createLocalJWKSet(keys), { currentDate: clock.now() })
  assert.equal(protectedHeader.alg, 'RS256')
  assert.ok(keys.keys.some(({ kid }) => kid === protectedHeader.kid))
  const { iss, aud, sub = '', exp = 0, iat = 0, auth_time: authTime, nonce: returnedNonce, acr, azp, at_hash } = payload
  assert.equal(iss, issuer)
  assert.deepEqual([aud].flat(), [client.clientId])
  assert.equal(azp, client.clientId)
  assert.match(sub, /^[\x20-\x7e]{1,255}$/)
  const now = clock.now().getTime() / 1000
  assert.ok(exp > now && exp < now + 50 * yearSeconds)
  assert.ok(Math.abs(iat - now) < 5 * 60)
  assert.ok(authTime === undefined || typeof authTime === 'number')
  if (authTime !== undefined) assert.ok(authTime <= now + 1 && authTime > now - yearSeconds)
  assert.equal(returnedNonce, nonce)
  assert.ok(acr === undefined || (typeof acr === 'string' && acr !== ''))
  assert.equal(at_hash, hash('sha256', access_token, 'buffer').subarray(0, 16).toString('base64url'))
  return { ...payload, sub, iat, authTime }
}

const claimTypes: Record<string, string> = {
  ...Object.fromEntries(['sub', 'name', 'preferred_username', 'picture', 'email'].map((claim) => [claim, 'string'])),
  email_verified: 'boolean',
  updated_at: 'number',
}

/** Checks the claims and the subject of userinfo (OpenID Connect Core §5.1, §5.3.2). */
export async function checkUserinfo(response: Response, sub: string): Promise<JWTPayload> {
  assert.equal(response.status, 200)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/)
  const claims: JWTPayload = await response.json()
  assert.equal(claims.sub, sub, 'userinfo has the subject of the ID token')
  for (const [claim, value] of Object.entries(claims))
    assert.equal(typeof value, claimTypes[claim] ?? typeof value, `${claim} has its type`)
  return claims
}

/** Checks an error response (RFC 6749 §5.2), and returns its code. */
export async function checkErrorResponse(response: Response, status: number): Promise<string> {
  assert.equal(response.status, status)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/)
  const { error, error_description } = await response.json()
  assert.ok(bodyErrors.includes(error), `${error} is a standard code`)
  assert.match(error_description ?? '', describable)
  return error
}

/** Checks that a request ends on an error page, without a redirect. */
export async function checkErrorPage(response: Response): Promise<void> {
  assert.ok(response.status >= 400 && response.status < 500, `${response.status}`)
  assert.equal(response.headers.get('location'), null)
  assert.match(response.headers.get('content-type') ?? '', /^text\/html\b/)
  assert.doesNotMatch(await response.text(), /<meta[^>]+refresh/i)
}

/** Returns the Shannon entropy of a text in bits, by the frequency of its characters: a lower bound. */
function entropyBits(text: string): number {
  const counts = Object.values(Object.groupBy(text, (character) => character)).map((same) => same?.length ?? 0)
  const shares = counts.map((count) => count / text.length)
  return -text.length * shares.reduce((sum, share) => sum + share * Math.log2(share), 0)
}
