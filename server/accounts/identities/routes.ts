import * as endpoints from '@countersign/protocol/accounts/identities'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { startEmailVerification, completeEmailVerification, removeEmail } from './email.ts'
import { updateIdentity, createIdentity, listIdentitiesOfSession, requireOwnIdentity, toIdentity } from './identity.ts'

export function identityRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listIdentities,
    onRequest: session.onRequest,
    async handler(request) {
      return { identities: await listIdentitiesOfSession(db, session.of(request)) }
    },
  })

  host.route({
    ...endpoints.createIdentity,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const created = await createIdentity(db, session.of(request), request.body, clock())
      return reply.status(201).send(created)
    },
  })

  host.route({
    ...endpoints.getIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      return toIdentity(await requireOwnIdentity(db, session.of(request), request.params.identityId))
    },
  })

  host.route({
    ...endpoints.updateIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      const acting = session.of(request)
      return updateIdentity(kernel, { ...request.body, ...request.params, acting }, clock())
    },
  })

  emailRoutes(host, kernel)
}

function emailRoutes(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.startEmailVerification,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: negotiateLanguage(request) }
      const { email, expiresAt } = await startEmailVerification(kernel, asking, request.body.email, clock())
      return { email, expiresAt: expiresAt.toISOString() }
    },
  })

  host.route({
    ...endpoints.verifyEmail,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: negotiateLanguage(request) }
      return completeEmailVerification(kernel, asking, request.body.code, clock())
    },
  })

  host.route({
    ...endpoints.removeEmail,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: negotiateLanguage(request) }
      return removeEmail(kernel, asking, clock())
    },
  })
}
