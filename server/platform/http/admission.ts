import type { FastifyRequest } from 'fastify'
import { runAt, type Place } from '#platform/idle.ts'
import { refusals } from '#platform/refusal.ts'

/**
 * How many requests a process works on at once. Beyond that, more of them would not be done sooner: everybody would
 * wait longer, until those who asked have long given up.
 */
const admittedMax = 500

const refuse = refusals({
  temporarily_unavailable: [503, 'More is asked for than can be done right now. Try again in a moment.'],
})

/** The requests that a process works on, on all of its hosts. */
export type Admission = {
  /**
   * Goes on with a request; refuses `temporarily_unavailable` where too much is asked of the process, and the request
   * is not of those that are worked on.
   */
  admit: (request: FastifyRequest, goOn: () => void) => void
  release: (request: FastifyRequest) => void
}

/**
 * A request that only waits (`whileIdle`) has no place meanwhile. When it comes back it is worked on again, however
 * many there are: it is nearly done. Whoever watches is answered however much is asked: a process that is busy is not
 * dead.
 */
export function createAdmission(): Admission {
  const admitted = new Set<Place>()
  const places = new WeakMap<FastifyRequest, HeldPlace>()
  return {
    admit(request, goOn) {
      if (request.routeOptions.config.host === 'every host') return goOn()
      const place = places.get(request) ?? createPlace(admitted)
      if (!place.isHeld() && admitted.size >= admittedMax)
        throw refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
      places.set(request, place)
      place.hold()
      runAt(place, goOn)
    },
    release(request) {
      places.get(request)?.release()
    },
  }
}

type HeldPlace = Place & { isHeld: () => boolean; hold: () => void; release: () => void }

/** A place that is counted as long as its request holds it and does not wait. */
function createPlace(admitted: Set<Place>): HeldPlace {
  let isHeld = false
  let waits = 0
  const place: HeldPlace = {
    isHeld: () => isHeld,
    hold() {
      isHeld = true
      if (waits === 0) admitted.add(place)
    },
    release() {
      isHeld = false
      admitted.delete(place)
    },
    leave() {
      waits += 1
      admitted.delete(place)
    },
    comeBack() {
      waits -= 1
      // What is answered already may have something left to do, and has no place for it.
      if (waits === 0 && isHeld) admitted.add(place)
    },
  }
  return place
}
