import { limits } from '@countersign/protocol/formats/limits'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { soleCookie } from '#accounts/sessions/cookie.ts'

const strict = '__Host-countersign-sso'
const plain = 'countersign-sso'
const pattern = /^[\w-]{43}$/

/**
 * Sets what binds a sign-in under way to its browser. A provider may answer by a form, which the browser sends from
 * another site: so it goes along with any request. On `http://localhost`, where that takes TLS in some browsers, the
 * same also goes under a plain name, with links alone.
 */
export function setFlowCookie(reply: FastifyReply, token: string, baseUrl: URL): void {
  const value = `${token}; Path=/; Max-Age=${2 * limits.flowLifetimeSeconds}; HttpOnly`
  reply.header('set-cookie', `${strict}=${value}; SameSite=None; Secure`)
  if (baseUrl.protocol === 'http:') reply.header('set-cookie', `${plain}=${value}; SameSite=Lax`)
}

/** What binds this browser to the sign-ins that it has begun; undefined where it has begun none. */
export function flowCookie(request: FastifyRequest, baseUrl: URL): string | undefined {
  const token = soleCookie(request, baseUrl.protocol === 'https:' ? [strict] : [strict, plain])
  return token !== undefined && pattern.test(token) ? token : undefined
}
