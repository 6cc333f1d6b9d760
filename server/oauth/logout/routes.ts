import * as endpoints from '@countersign/protocol/accounts/sessions'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { readUnrepeated, repeatable } from '#oauth/sent-parameters.ts'
import type { Host } from '#platform/http/host.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import { parseLogoutRequest } from './logout-request.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { forgetBrowser } from '#accounts/passkeys/ceremony.ts'
import { signOut, signOutOtherSessions, signOutByIdTokenHint, signOutSession } from './sign-out.ts'

/** Services of the logout routes. */
export type LogoutServices = { kernel: ServerContext; apps: AppDirectory; keys: SigningKeys; pages: Pages }

export function signOutRoutes(host: Host, kernel: ServerContext, keys: SigningKeys): void {
  const { config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.signOut,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOut(kernel, session.of(request))
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.signOutByIdTokenHint,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOutByIdTokenHint({ kernel, keys }, session.of(request), request.body.idTokenHint)
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.revokeSession,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const own = session.of(request)
      const { sessionId } = request.params
      await signOutSession(kernel, own, sessionId)
      if (sessionId === own.sessionId) forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.revokeOtherSessions,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOutOtherSessions(kernel, session.of(request))
      return reply.status(204).send(null)
    },
  })
}

/** Registers the page of RP-initiated logout. It accepts a query and a form. */
export function logoutPage(host: Host, { kernel, apps, keys, pages }: LogoutServices): void {
  const site = siteSettings(kernel.config)
  const config = {
    security: 'none',
    cors: 'no origin',
    host: 'auth',
    page: true,
    form: { several: repeatable, repeats: true },
  } as const
  for (const [method, part] of [['GET', 'query'] as const, ['POST', 'body'] as const])
    host.route({
      method,
      url: '/logout',
      config,
      handler: async (request, reply) =>
        pages.show(reply, await parseLogoutRequest({ apps, keys, site }, readUnrepeated(request[part]))),
    })
}
