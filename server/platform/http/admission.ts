import type { FastifyRequest } from 'fastify'
import { runAt, type Place } from '#platform/idle.ts'
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

/**
 * Creates the admission of requests. A request that only waits (`whileIdle`) gives up its place meanwhile. When it
 * returns it continues regardless of the limit, because it is nearly done. Health checks are always admitted: a busy
 * process is not dead.
 */
export function createAdmission(): Admission {
  const admitted = new Set<Place>()
  const places = new WeakMap<FastifyRequest, HeldPlace>()
  return {
    admit(request, goOn) {
      if (request.routeOptions.config.host === 'every host') return goOn()
      const place = places.get(request) ?? createPlace(admitted)
      if (!place.disabledByOperator() && admitted.size >= admittedMax)
        throw errors.temporarily_unavailable({ headers: { 'retry-after': '2' } })
      places.set(request, place)
      place.hold()
      runAt(place, goOn)
    },
    release(request) {
      places.get(request)?.release()
    },
  }
}

type HeldPlace = Place & { disabledByOperator: () => boolean; hold: () => void; release: () => void }

/** Creates a place that counts while its request holds it and does not wait. */
function createPlace(admitted: Set<Place>): HeldPlace {
  let disabledByOperator = false
  let waits = 0
  const place: HeldPlace = {
    disabledByOperator: () => disabledByOperator,
    hold() {
      disabledByOperator = true
      if (waits === 0) admitted.add(place)
    },
    release() {
      disabledByOperator = false
      admitted.delete(place)
    },
    leave() {
      waits += 1
      admitted.delete(place)
    },
    comeBack() {
      waits -= 1
      // A request that is already answered may have work left, for which it has no place.
      if (waits === 0 && disabledByOperator) admitted.add(place)
    },
  }
  return place
}
