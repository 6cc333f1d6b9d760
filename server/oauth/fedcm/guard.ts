import type { FastifyRequest } from 'fastify'
import { guard } from '#platform/http/guard.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { federatedCookie } from '#accounts/sessions/cookie.ts'
import { sessionOfFederatedToken, type PasskeySession } from '#accounts/sessions/session.ts'

const errors = defineErrors({
  invalid_request: [400, 'This endpoint only accepts FedCM requests (Sec-Fetch-Dest: webidentity).'],
  unauthorized: [401, 'No signed-in user in this browser.'],
})

/**
 * Authenticates FedCM requests of a browser with a session. No page can send them: scripts cannot set the header, and
 * the cookie is valid only here. Throws `invalid_request`, or `unauthorized` with the login status for the browser to
 * store (FedCM §3.3, Login Status API).
 */
export function fedcmGuard({ db, clock }: Pick<ServerContext, 'db' | 'clock'>) {
  return guard(async (request): Promise<PasskeySession> => {
    requireBrowser(request)
    const token = federatedCookie(request)
    const session = token === undefined ? undefined : await sessionOfFederatedToken(db, token, clock())
    if (!session) throw errors.unauthorized({ headers: { 'set-login': 'logged-out' } })
    return session
  })
}

/** Throws `invalid_request` unless the browser itself sent the request. */
function requireBrowser({ headers }: Pick<FastifyRequest, 'headers'>): void {
  if (headers['sec-fetch-dest'] !== 'webidentity') throw errors.invalid_request()
}
