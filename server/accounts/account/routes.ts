import { Readable } from 'node:stream'
import * as endpoints from '@countersign/protocol/accounts/account'
import type { Host } from '#platform/http/host.ts'
import type { ExportParts } from '#platform/module/define-module.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { forgetBrowser } from '#accounts/passkeys/ceremony.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { deleteAccount, deleteIdentity } from './deletion.ts'
import { exportAccount } from './export.ts'

export type AccountServices = { kernel: ServerContext; lifecycle: Lifecycle; exportParts: readonly ExportParts[] }

export function accountRoutes(host: Host, services: AccountServices): void {
  const { kernel, exportParts } = services
  const { db, clock, config, rateLimits, log } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.exportAccount,
    // The response is sent as text, in pieces.
    schema: {},
    onRequest: session.onRequest,
    async handler(request, reply) {
      await rateLimits.count('account-exports-per-user', ownKey(session.of(request), clock()))
      reply.header('content-disposition', 'attachment; filename="countersign-account.json"')
      // The client's speed determines the duration, so the request must not count against the concurrency limit.
      host.release(request)
      const text = Readable.from(exportAccount(db, exportParts, session.of(request), clock()))
      // Errors before the first byte are answered like any other error.
      text.once('error', (error) => {
        if (reply.raw.headersSent) log.error({ error }, 'account export stream aborted')
      })
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })

  host.route({
    ...endpoints.deleteIdentity,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await deleteIdentity(services, session.of(request), request.params.identityId, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.deleteAccount,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const withApps = request.query.apps === 'delete'
      await deleteAccount(services, session.of(request), { withApps }, clock())
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })
}
