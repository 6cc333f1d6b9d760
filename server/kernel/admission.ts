import type { FastifyInstance, FastifyRequest } from 'fastify'
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
export type Admission = Set<FastifyRequest>

export function createAdmission(): Admission {
  return new Set()
}

/**
 * Refuses `temporarily_unavailable` where too much is asked of the process. Whoever watches is answered all the same:
 * a process that is busy is not dead.
 */
export function limitAdmission(host: Pick<FastifyInstance, 'addHook'>, admission: Admission): void {
  function admit(request: FastifyRequest): void {
    if (admission.has(request) || request.routeOptions.config.host === 'every host') return
    if (admission.size >= admittedMax) throw refuse.temporarily_unavailable({ headers: { 'retry-after': '2' } })
    admission.add(request)
  }

  host.addHook('onRequest', (request, _reply, done) => {
    admit(request)
    done()
  })
  // A body may take its time to come. Nothing is worked on meanwhile, and slow callers must not keep the others out.
  host.addHook('preParsing', (request, _reply, payload, done) => {
    admission.delete(request)
    done(null, payload)
  })
  host.addHook('preValidation', (request, _reply, done) => {
    admit(request)
    done()
  })
  host.addHook('onSend', (request, _reply, payload, done) => {
    admission.delete(request)
    done(null, payload)
  })
}
