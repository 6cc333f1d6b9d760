import type { FastifyRequest } from 'fastify'

/** What proves again whatever the guards of a request have proved while its body was still to come. */
const provenTooSoon = new WeakMap<FastifyRequest, (() => Promise<void>)[]>()

/**
 * A check that runs before the body is read, and the way to its result. So strangers send no body; but whoever holds
 * its last byte back must not act by what has ended meanwhile. Where the body was still to come when the check was
 * done, `proveAgain` checks once more when it has come, and its result is the one that counts.
 */
export function guard<Proof extends object>(
  prove: (request: FastifyRequest) => Promise<Proof>,
  proveAgain: (request: FastifyRequest) => Promise<Proof> = prove,
) {
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
      if (!proof) throw new Error(`${request.routeOptions.url} reads a proof that no guard made`)
      return proof
    },
  }
}

/**
 * Runs the guards of a request again that were done before its body had come; undefined where there are none. Refuses
 * as they do.
 */
export function proveWithBody(request: FastifyRequest): Promise<void> | undefined {
  const again = provenTooSoon.get(request)
  return again && inTurn(again)
}

async function inTurn(checks: (() => Promise<void>)[]): Promise<void> {
  for (const check of checks) await check()
}

/** Whether the body of a request has not come in whole. Most come with their header, before any guard is done. */
export function isAwaitingBody(request: Pick<FastifyRequest, 'headers' | 'raw'>): boolean {
  return hasBody(request) && !request.raw.complete
}

/** Whether a body follows (RFC 9112 §6.3). */
function hasBody({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers
  return length !== '0' || coding !== undefined
}
