import * as endpoints from '@countersign/protocol/accounts/identities'
import { limits } from '@countersign/protocol/formats/limits'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { acceptPictureBodies, countUpload, pictureBodyOf } from '#platform/pictures/upload.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { removeAvatar, setAvatar } from './avatar.ts'
import { startEmailVerification, completeEmailVerification, removeEmail } from './email.ts'
import { requireUnbrandedHandle } from './handle.ts'
import { updateIdentity, createIdentity, listIdentitiesOfSession, requireOwnIdentity, toIdentity } from './identity.ts'

export type IdentityServices = { kernel: ServerContext; workshop: Workshop }

export function identityRoutes(host: Host, { kernel, workshop }: IdentityServices): void {
  const { db, clock, config } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listIdentities,
    onRequest: session.onRequest,
    async handler(request) {
      return { identities: await listIdentitiesOfSession(db, session.of(request), clock()) }
    },
  })

  host.route({
    ...endpoints.createIdentity,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await requireUnbrandedHandle(db, config, request.body)
      const created = await createIdentity(db, session.of(request), request.body, clock())
      return reply.status(201).send(created)
    },
  })

  host.route({
    ...endpoints.getIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      return toIdentity(await requireOwnIdentity(db, session.of(request), request.params.identityId, clock()))
    },
  })

  host.route({
    ...endpoints.updateIdentity,
    onRequest: session.onRequest,
    async handler(request) {
      const acting = session.of(request)
      const { identityId } = request.params
      const { handle } = request.body
      if (handle !== undefined) await requireUnbrandedHandle(db, config, { handle, identityId })
      return updateIdentity(kernel, { ...request.body, identityId, acting }, clock())
    },
  })

  emailRoutes(host, kernel)
  avatarRoutes(host, { kernel, workshop })
}

function avatarRoutes(host: Host, { kernel, workshop }: IdentityServices): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.removeAvatar,
    onRequest: session.onRequest,
    handler: (request) => removeAvatar(kernel, { ...request.params, acting: session.of(request) }, clock()),
  })

  host.register(async (scope) => {
    acceptPictureBodies(scope)
    scope.withTypeProvider<TypeBoxTypeProvider>().route({
      ...endpoints.setAvatar,
      bodyLimit: limits.pictureBytesMax,
      async onRequest(request, reply) {
        await session.onRequest(request)
        const acting = session.of(request)
        await countUpload(kernel.rateLimits, { by: acting.userId, counted: ownKey(acting, clock()) }, reply)
      },
      handler(request) {
        const acting = session.of(request)
        const upload = { ...request.params, acting, bytes: pictureBodyOf(request) }
        return setAvatar({ ...kernel, workshop }, upload, clock())
      },
    })
  })
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
