import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'

const strict = '__Host-countersign'
const plain = 'countersign'
const federated = '__Host-countersign-fedcm'
const nameOf = (secure: boolean) => (secure ? [strict] : [strict, plain])

/** A session's tokens in clear: of its pages, and of the sign-ins that the browser mediates itself, if it may do so. */
export type SessionTokens = { token: string; federatedToken: string | undefined }

/**
 * Sets the session's cookies on the API host, and tells the browser whether it may offer this person to apps (Login
 * Status API). On `http://localhost` some browsers refuse the `__Host-` prefix, so there the same token also goes
 * under the plain name.
 */
export function setSessionCookies(reply: FastifyReply, { token, federatedToken }: SessionTokens, baseUrl: URL): void {
  setCookies(reply, { token, federatedToken: federatedToken ?? '' }, baseUrl)
}

export function clearSessionCookies(reply: FastifyReply, baseUrl: URL): void {
  setCookies(reply, { token: '', federatedToken: '' }, baseUrl)
}

/** Sets these cookies; one without a value is taken back. */
function setCookies(reply: FastifyReply, { token, federatedToken }: Record<keyof SessionTokens, string>, baseUrl: URL) {
  for (const name of nameOf(baseUrl.protocol === 'https:')) reply.header('set-cookie', cookie(name, token, 'Lax'))
  // Only a cookie that goes along from anywhere reaches us when the browser asks for the page of an app.
  reply.header('set-cookie', cookie(federated, federatedToken, 'None'))
  reply.header('set-login', federatedToken === '' ? 'logged-out' : 'logged-in')
}

/** The session token in the request's cookies. The plain name counts only where the API is served without TLS. */
export function sessionCookie(request: FastifyRequest, baseUrl: URL): string | undefined {
  return soleCookie(request, nameOf(baseUrl.protocol === 'https:'))
}

/** The token by which the browser asks for itself, on behalf of the page of an app. */
export function federatedCookie(request: FastifyRequest): string | undefined {
  return soleCookie(request, [federated])
}

/** The value of the first of these cookies that the request has once: of two, one could be from elsewhere. */
export function soleCookie(request: FastifyRequest, names: string[]): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='))
  for (const name of names) {
    const values = pairs.filter(([key]) => key === name).map(([, value]) => value)
    if (values.length === 1) return values[0]
  }
  return undefined
}

function cookie(name: string, value: string, sameSite: 'Lax' | 'None'): string {
  const secure = name === plain ? '' : '; Secure'
  const lifetimeSeconds = value === '' ? 0 : limits.sessionLifetimeSeconds
  return `${name}=${value}; Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`
}
