import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'
import { sha256 } from '#platform/crypto/digest.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { clearSessionCookies, soleCookie } from '#accounts/sessions/cookie.ts'

const strict = '__Host-countersign-passkey'
const plain = 'countersign-passkey'
const pattern = /^[\w-]{43}$/

/**
 * Who finishes a ceremony: the SHA-256 of the token that binds its browser to the ceremonies begun there, and whether
 * it is a page, which finishes none that was begun elsewhere. A client of the API keeps no cookies, and what it begins
 * is bound to nothing.
 */
export type FlowClient = { browserSha256: Uint8Array | undefined; isPage: boolean }

/**
 * Binds the ceremony that a page begins to its browser by a cookie, and returns the SHA-256 of its token. Null for a
 * client of the API. One browser has one token while it begins ceremonies, so that two tabs do not disturb each other.
 */
export function bindToBrowser(request: FastifyRequest, reply: FastifyReply, baseUrl: URL): Uint8Array | null {
  if (!isPage(request)) return null
  const token = bindingToken(request, baseUrl) ?? randomBytes(32).toString('base64url')
  setCookie(reply, token, baseUrl)
  return sha256(token)
}

/** Takes back what tells the service of this browser: its session, and what binds it to ceremonies. */
export function forgetBrowser(reply: FastifyReply, baseUrl: URL): void {
  clearSessionCookies(reply, baseUrl)
  setCookie(reply, '', baseUrl)
}

/** Sets the cookie; one without a token is taken back. */
function setCookie(reply: FastifyReply, token: string, baseUrl: URL): void {
  const lifetimeSeconds = token === '' ? 0 : 2 * limits.flowLifetimeSeconds
  const value = `${token}; Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=Lax`
  reply.header('set-cookie', `${strict}=${value}; Secure`)
  // On `http://localhost` some browsers refuse the `__Host-` prefix.
  if (baseUrl.protocol === 'http:') reply.header('set-cookie', `${plain}=${value}`)
}

export function flowClientOf(request: FastifyRequest, baseUrl: URL): FlowClient {
  const token = bindingToken(request, baseUrl)
  return { browserSha256: token === undefined ? undefined : sha256(token), isPage: isPage(request) }
}

function bindingToken(request: FastifyRequest, baseUrl: URL): string | undefined {
  const token = soleCookie(request, baseUrl.protocol === 'https:' ? [strict] : [strict, plain])
  return token !== undefined && pattern.test(token) ? token : undefined
}

/** The header is written by the browser alone: no script can set it or leave it out (Fetch Metadata, section 2.3). */
function isPage({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-site'] === 'same-origin' || headers['sec-fetch-site'] === 'same-site'
}
