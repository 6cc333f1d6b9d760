import type { FastifyRequest } from 'fastify'

/** Checks of a request to repeat, because they ran before the body had arrived. */
const provenTooSoon = new WeakMap<FastifyRequest, (() => Promise<void>)[]>()

/**
 * Check of a request, and access to its result. `onRequest` is declared with no more of a request than its ID, because
 * the type of a whole one would keep a route from inferring its own config.
 */
export type Guard<Proof extends object> = {
  onRequest(request: Pick<FastifyRequest, 'id'>): Promise<void>
  of(request: FastifyRequest): Proof
}

/**
 * Creates a check that runs before the body is read, and access to its result. Unauthenticated callers then send no
 * body. A caller that delays the last byte must not act with a credential that has ended meanwhile: if the body was
 * incomplete, `proveAgain` checks again when it has arrived, and its result applies.
 */
export function guard<Proof extends object>(
  prove: (request: FastifyRequest) => Promise<Proof>,
  proveAgain: (request: FastifyRequest) => Promise<Proof> = prove,
): Guard<Proof> {
  const proofs = new WeakMap<FastifyRequest, Proof>()
  return {
    async onRequest(request: FastifyRequest): Promise<void> {
      proofs.set(request, await prove(request))
      if (!isAwaitingBody(request)) return
      const others = provenTooSoon.get(request) ?? []
      provenTooSoon.set(request, [...others, async () => void proofs.set(request, await proveAgain(request))])
    },
    of(request: FastifyRequest): Proof {
      const proof = proofs.get(request)
      if (!proof) throw new Error(`${request.routeOptions.url} reads the result of a guard that did not run`)
      return proof
    },
  }
}

/**
 * Repeats the guards of a request that ran before its body had arrived. Returns undefined if there are none. Throws
 * like the guards.
 */
export function proveWithBody(request: FastifyRequest): Promise<void> | undefined {
  const again = provenTooSoon.get(request)
  return again && inTurn(again)
}

async function inTurn(checks: (() => Promise<void>)[]): Promise<void> {
  for (const check of checks) await check()
}

/** Checks whether the body of a request is incomplete. Most arrive with their header, before any guard has run. */
export function isAwaitingBody(request: Pick<FastifyRequest, 'headers' | 'raw'>): boolean {
  return hasBody(request) && !request.raw.complete
}

/** Checks whether a request has a body (RFC 9112 §6.3). */
function hasBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return length !== '0' || coding !== undefined
}
