import * as endpoints from '@countersign/protocol/accounts/identities'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { languageOf } from '#platform/outbound/language.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { beginEmailProof, finishEmailProof, removeEmail } from './email.ts'
import { changeIdentity, createIdentity, listActing, requireOwnIdentity, toIdentity } from './identity.ts'

export function identityRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listIdentities,
    onRequest: session.onRequest,
    async handler(request) {
      return { identities: await listActing(db, session.of(request)) }
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
    ...endpoints.readIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      return toIdentity(await requireOwnIdentity(db, session.of(request), request.params.identityId))
    },
  })

  host.route({
    ...endpoints.changeIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      const acting = session.of(request)
      return changeIdentity(kernel, { ...request.body, ...request.params, acting }, clock())
    },
  })

  emailRoutes(host, kernel)
}

function emailRoutes(host: Host, kernel: Kernel): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.beginEmailProof,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: languageOf(request) }
      const { email, expiresAt } = await beginEmailProof(kernel, asking, request.body.email, clock())
      return { email, expiresAt: expiresAt.toISOString() }
    },
  })

  host.route({
    ...endpoints.finishEmailProof,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: languageOf(request) }
      return finishEmailProof(kernel, asking, request.body.code, clock())
    },
  })

  host.route({
    ...endpoints.removeEmail,
    onRequest: session.onRequest,
    async handler(request) {
      const asking = { ...request.params, session: session.of(request), language: languageOf(request) }
      return removeEmail(kernel, asking, clock())
    },
  })
}
