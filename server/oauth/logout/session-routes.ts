import * as endpoints from '@countersign/protocol/accounts/sessions'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { forgetBrowser } from '#accounts/passkeys/browser-binding.ts'
import { signOut, signOutElsewhere, signOutForApp, signOutThere } from './sign-out.ts'

export function signOutRoutes(host: Host, kernel: Kernel, keys: SigningKeys): void {
  const { config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.endSession,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOut(kernel, session.of(request))
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.endHintedSession,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOutForApp({ kernel, keys }, session.of(request), request.body.idTokenHint)
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.endSessionById,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const own = session.of(request)
      const { sessionId } = request.params
      await signOutThere(kernel, own, sessionId)
      if (sessionId === own.sessionId) forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.endOtherSessions,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await signOutElsewhere(kernel, session.of(request))
      return reply.status(204).send(null)
    },
  })
}
