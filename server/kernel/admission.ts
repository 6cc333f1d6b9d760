import type { FastifyRequest } from 'fastify'
import { refusals } from './refusal.ts'

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
  /** Refuses `temporarily_unavailable` where too much is asked of the process, and the request is not of those. */
  admit: (request: FastifyRequest) => void
  release: (request: FastifyRequest) => void
}

/** Whoever watches is answered however much is asked: a process that is busy is not dead. */
export function createAdmission(): Admission {
  const admitted = new Set<FastifyRequest>()
  return {
    admit(request) {
      if (admitted.has(request) || request.routeOptions.config.host === 'every host') return
      if (admitted.size >= admittedMax) throw refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
      admitted.add(request)
    },
    release(request) {
      admitted.delete(request)
    },
  }
}
