import type { FastifyRequest } from 'fastify'
import { runAt, type Place, type RequestOrigin } from '#platform/request-place.ts'
import { networkOf, sourceAddress } from '#platform/source-address.ts'
import { defineErrors } from '#platform/api-error.ts'

/**
 * Maximum number of concurrent requests per process. More would not finish sooner: all would take longer, until their
 * clients have given up.
 */
const admittedMax = 500

const errors = defineErrors({
  temporarily_unavailable: [503, 'The server is overloaded. Retry later.'],
})

/** The requests in progress on all hosts of a process. */
export type Admission = {
  /**
   * Continues a request. Throws `temporarily_unavailable` if the process is overloaded and the request is not yet
   * admitted.
   */
  admit: (request: FastifyRequest, goOn: () => void) => void
  release: (request: FastifyRequest) => void
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Place of this request, from its admission on. */
    place: RequestPlace | undefined
  }
}

/**
 * Creates the admission of requests. A request that only waits (`whileIdle`) gives up its place meanwhile. When it
 * returns it continues regardless of the limit, because it is nearly done. Health checks are always admitted: a busy
 * process is not dead.
 */
export function createAdmission(): Admission {
  const admitted = new Set<Place>()
  return {
    admit(request, goOn) {
      if (request.place?.isHeld) return runAt(request.place, goOn)
      if (request.routeOptions.config.host === 'every host') return goOn()
      if (admitted.size >= admittedMax)
        throw errors.temporarily_unavailable({ headers: { 'retry-after': '2' }, fault: 'overloaded' })
      const place = (request.place ??= new RequestPlace(admitted, request))
      place.hold()
      runAt(place, goOn)
    },
    release(request) {
      request.place?.release()
    },
  }
}

/** Place that counts while its request holds it and does not wait. */
class RequestPlace implements Place {
  readonly #admitted: Set<Place>
  readonly #requestId: string
  readonly #addresses: Parameters<typeof sourceAddress>[0]
  #origin: RequestOrigin | undefined
  #isHeld = false
  #waits = 0

  constructor(admitted: Set<Place>, { id, ip, ips = [ip] }: FastifyRequest) {
    this.#admitted = admitted
    this.#requestId = id
    // At once: a client that has left has no address any more.
    this.#addresses = { ip, ips }
  }

  /** Parsed when it is needed, because few requests record an event. */
  get origin(): RequestOrigin {
    const network = () => networkOf(sourceAddress(this.#addresses))
    return (this.#origin ??= { requestId: this.#requestId, network: network() })
  }

  get isHeld(): boolean {
    return this.#isHeld
  }

  hold(): void {
    this.#isHeld = true
    if (this.#waits === 0) this.#admitted.add(this)
  }

  release(): void {
    this.#isHeld = false
    this.#admitted.delete(this)
  }

  leave(): void {
    this.#waits += 1
    this.#admitted.delete(this)
  }

  comeBack(): void {
    this.#waits -= 1
    // A request that is already answered may have work left, for which it has no place.
    if (this.#waits === 0 && this.#isHeld) this.#admitted.add(this)
  }
}
