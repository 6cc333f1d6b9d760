import type { FastifyRequest } from 'fastify'
import { guard } from '#platform/http/guard.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { federatedCookie } from './cookie.ts'
import { sessionOfFederatedToken, type Session } from './session.ts'

const refuse = refusals({
  invalid_request: [400, 'Only a browser itself asks here, for a sign-in that it mediates.'],
  unauthorized: [401, 'Nobody is signed in.'],
})

/**
 * Lets through a browser that asks by itself and has the session of somebody for that. Neither can be had by a page: no
 * script can set the header, and the cookie opens nothing else. Refuses `invalid_request`, and `unauthorized` with word
 * for the browser to remember it (FedCM §3.3, Login Status API).
 */
export function federatedGuard({ db, clock }: Pick<Kernel, 'db' | 'clock'>) {
  return guard(async (request): Promise<Session> => {
    requireBrowser(request)
    const token = federatedCookie(request)
    const session = token === undefined ? undefined : await sessionOfFederatedToken(db, token, clock())
    if (!session) throw refuse.unauthorized({ headers: { 'set-login': 'logged-out' } })
    return session
  })
}

/** Refuses `invalid_request` for whatever is not asked by the browser itself. */
function requireBrowser({ headers }: Pick<FastifyRequest, 'headers'>): void {
  if (headers['sec-fetch-dest'] !== 'webidentity') throw refuse.invalid_request()
}
