import { Readable } from 'node:stream'
import * as endpoints from '@countersign/protocol/accounts/account'
import type { AppDirectory } from '#clients/registration/app-directory.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { forgetBrowser } from '#accounts/passkeys/browser-binding.ts'
import { ownKey } from '#accounts/sessions/own-key.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { deleteAccount, deleteIdentity } from './deletion.ts'
import { exportAccount } from './export.ts'

export function accountRoutes(host: Host, kernel: Kernel, apps: AppDirectory): void {
  const { db, clock, config, rateLimits, log } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.exportAccount,
    // The answer is sent as text, in pieces.
    schema: {},
    onRequest: session.onRequest,
    async handler(request, reply) {
      await rateLimits.count('account export of a person', ownKey(session.of(request), clock()))
      reply.header('content-disposition', 'attachment; filename="countersign-account.json"')
      // It goes at the pace of whoever reads it, which keeps nobody else from being served.
      host.release(request)
      const text = Readable.from(exportAccount(db, session.of(request), clock()))
      // What fails before anything was sent is answered as any other fault.
      text.once('error', (error) => {
        if (reply.raw.headersSent) log.error({ error }, 'account export was cut off')
      })
      return reply.type('application/json; charset=utf-8').send(text)
    },
  })

  host.route({
    ...endpoints.deleteIdentity,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await deleteIdentity(kernel, session.of(request), request.params.identityId, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.deleteAccount,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const withApps = request.query.apps === 'delete'
      const clientIds = await deleteAccount(kernel, session.of(request), { withApps }, clock())
      await Promise.all(clientIds.map((clientId) => apps.forgetEverywhere(clientId)))
      forgetBrowser(reply, config.baseUrl)
      return reply.status(204).send(null)
    },
  })
}
