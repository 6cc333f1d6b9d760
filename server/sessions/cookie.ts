import type { FastifyReply, FastifyRequest } from 'fastify'
import { limits } from '@countersign/protocol/formats/limits'

const strict = '__Host-countersign'
const plain = 'countersign'
const nameOf = (secure: boolean) => (secure ? [strict] : [strict, plain])

/**
 * Sets the session's cookie on the API host. On `http://localhost` some browsers refuse the `__Host-` prefix, so there
 * the same token also goes under the plain name.
 */
export function setSessionCookie(reply: FastifyReply, token: string, baseUrl: URL): void {
  for (const name of nameOf(baseUrl.protocol === 'https:'))
    reply.header('set-cookie', cookie(name, token, limits.sessionLifetimeSeconds))
}

export function clearSessionCookie(reply: FastifyReply, baseUrl: URL): void {
  for (const name of nameOf(baseUrl.protocol === 'https:')) reply.header('set-cookie', cookie(name, '', 0))
}

/** The session token in the request's cookies. The plain name counts only where the API is served without TLS. */
export function sessionCookie(request: FastifyRequest, baseUrl: URL): string | undefined {
  return soleCookie(request, nameOf(baseUrl.protocol === 'https:'))
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

function cookie(name: string, value: string, lifetimeSeconds: number): string {
  const secure = name === strict ? '; Secure' : ''
  return `${name}=${value}; Path=/; Max-Age=${lifetimeSeconds}; HttpOnly; SameSite=Lax${secure}`
}
