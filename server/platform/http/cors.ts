import type { Cors } from '@countersign/protocol/endpoint'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { inHeader, isPlainOrigin } from '#platform/origin.ts'

/**
 * Origins by the kinds of the interface. `pages` are those of this service, of which `authHost` is one. `isRegistered`
 * checks whether an app has a redirect URI of an origin.
 */
export type Origins = { authHost: string; pages: string[]; isRegistered: (origin: string) => Promise<boolean> }

const exposed =
  'countersign-version, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset, www-authenticate'

/** Tells a browser whether the page of `Origin` may read the response of an endpoint (Fetch §3.2). */
export function allowOrigin(
  request: FastifyRequest,
  reply: FastifyReply,
  cors: Cors,
  origins: Origins,
): boolean | Promise<boolean> {
  const { origin } = request.headers
  // The body names the requesting app, so `allowRequestingOrigin` decides after it is read.
  if (cors === 'no origin' || cors === 'requesting app') return false
  if (cors === 'any origin') {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', exposed)
    return true
  }
  reply.header('vary', 'origin')
  return origin === undefined ? false : allowKnownOrigin(origin, reply, cors, origins)
}

async function allowKnownOrigin(origin: string, reply: FastifyReply, cors: Cors, origins: Origins): Promise<boolean> {
  if (!(await mayRead(origin, cors, origins))) return false
  reply.header('access-control-allow-origin', inHeader(origin)).header('access-control-expose-headers', exposed)
  if (cors === 'first party' || cors === 'auth host') reply.header('access-control-allow-credentials', 'true')
  return true
}

/** Lets the page of an app read a response to a request with a user's cookies. */
export function allowRequestingOrigin(reply: FastifyReply, origin: string): void {
  reply.header('access-control-allow-origin', inHeader(origin)).header('access-control-allow-credentials', 'true')
  reply.header('vary', 'origin')
}

/** Answers a preflight request for a path whose endpoints are `methods`. */
export async function answerPreflight(reply: FastifyReply, methods: string[], allowed: boolean) {
  if (allowed)
    reply
      .header('access-control-allow-methods', methods.join(', '))
      .header('access-control-allow-headers', 'authorization, content-type, if-match, countersign-user')
      .header('access-control-max-age', '600')
  return reply.status(204).send()
}

async function mayRead(origin: string, cors: Cors, origins: Origins): Promise<boolean> {
  if (cors === 'auth host') return origin === origins.authHost
  if (cors === 'first party') return origins.pages.includes(origin)
  return isPlainOrigin(origin) && origins.isRegistered(origin)
}
