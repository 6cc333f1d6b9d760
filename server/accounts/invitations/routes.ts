import { limits } from '@countersign/protocol/formats/limits'
import * as endpoints from '@countersign/protocol/accounts/invitations'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { defineErrors } from '#platform/api-error.ts'
import { requireUtf8 } from '#platform/http/body.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { acceptWithFurtherIdentity, previewInvitation } from './acceptance.ts'
import { importInvitations } from './import.ts'
import { createInvitation, deleteInvitation, getInvitation, listInvitations, resendInvitation } from './invitation.ts'

const errors = defineErrors({ unsupported_media_type: [415, 'Send the file as text/csv.'] })

const pageDefault = 50

/** Registers the management of invitations by operators, and what their recipients see. */
export function accountInvitationRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock, rateLimits } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listAccountInvitations,
    onRequest,
    handler: ({ query: { cursor, limit } }) =>
      listInvitations(db, { before: cursor, count: Number(limit ?? pageDefault) }, clock()),
  })

  host.route({
    ...endpoints.createAccountInvitation,
    onRequest,
    async handler(request, reply) {
      const inviting = { ...request.body, operator: of(request), browserLanguage: negotiateLanguage(request) }
      return reply.status(201).send(await createInvitation(kernel, inviting, clock()))
    },
  })

  host.route({
    ...endpoints.getAccountInvitation,
    onRequest,
    handler: ({ params }) => getInvitation(db, params.invitationId, clock()),
  })

  host.route({
    ...endpoints.deleteAccountInvitation,
    onRequest,
    async handler(request, reply) {
      await deleteInvitation(db, { ...request.params, operator: of(request) }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.resendAccountInvitation,
    onRequest,
    handler: (request) => resendInvitation(kernel, { ...request.params, operator: of(request) }, clock()),
  })

  host.route({
    ...endpoints.previewAccountInvitation,
    async handler(request) {
      await rateLimits.count('account-invitation-previews', clientAddressKey(request))
      return previewInvitation(db, request.body.invitation, clock())
    },
  })

  importRoute(host, kernel)

  const session = sessionGuard(kernel)
  host.route({
    ...endpoints.acceptAccountInvitation,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const accepting = { ...request.body, session: session.of(request) }
      return reply.status(201).send(await acceptWithFurtherIdentity(kernel, accepting, clock()))
    },
  })
}

function importRoute(host: Host, kernel: ServerContext): void {
  const { clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  // In a scope of its own: no other route takes such a body.
  host.register(async (scope) => {
    const files = new WeakMap<FastifyRequest, string>()
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
      if (!/^text\/csv *(;|$)/i.test(request.headers['content-type'] ?? '')) throw errors.unsupported_media_type()
      files.set(request, requireUtf8(body))
    })
    scope.withTypeProvider<TypeBoxTypeProvider>().route({
      ...endpoints.importAccountInvitations,
      bodyLimit: limits.invitationImportBytesMax,
      onRequest,
      async handler(request) {
        const { dryRun = 'true', onError = 'abort' } = request.query
        const text = files.get(request)
        if (text === undefined) throw errors.unsupported_media_type()
        const importing = { operator: of(request), browserLanguage: negotiateLanguage(request), text }
        return importInvitations(kernel, { ...importing, isCheck: dryRun === 'true', onError }, clock())
      },
    })
  })
}
