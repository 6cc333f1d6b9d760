import * as endpoints from '@countersign/protocol/accounts/account'
import { sendDownload } from '#platform/http/download.ts'
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
      const pieces = exportAccount(db, exportParts, session.of(request), clock())
      return sendDownload({ host, log }, { request, reply }, { pieces, fileName: 'countersign-account.json' })
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
