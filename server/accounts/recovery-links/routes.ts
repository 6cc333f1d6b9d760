import * as endpoints from '@countersign/protocol/accounts/recovery/links'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { ApiError } from '#platform/api-error.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { bindToBrowser, flowClientOf } from '#accounts/passkeys/ceremony.ts'
import { acceptRecovery, liftLimit } from './limit.ts'
import { cancelRecoveryLink, getRecoveryLink, issueRecoveryLink, listRecoveryLinks } from './recovery-link.ts'
import { finishRedemption, startRedemption } from './redemption.ts'
import { listOwnRecoveryLinks, stopMailedRecoveryLink, stopOwnRecoveryLink, type StopServices } from './stop.ts'

export type RecoveryLinkServices = StopServices & { kernel: ServerContext }

export function recoveryLinkRoutes(host: Host, { kernel }: RecoveryLinkServices): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.issueRecoveryLink,
    onRequest,
    async handler(request, reply) {
      const { reason } = request.body
      const link = await issueRecoveryLink(kernel, { operator: of(request), ...request.params, reason }, clock())
      return reply.status(201).send(link)
    },
  })

  host.route({
    ...endpoints.getRecoveryLink,
    onRequest,
    handler: (request) => getRecoveryLink(db, { operator: of(request), ...request.params }, clock()),
  })

  host.route({
    ...endpoints.listRecoveryLinks,
    onRequest,
    handler: async (request) => ({
      recoveryLinks: await listRecoveryLinks(db, { operator: of(request), ...request.params }, clock()),
    }),
  })

  host.route({
    ...endpoints.cancelRecoveryLink,
    onRequest,
    async handler(request, reply) {
      await cancelRecoveryLink(db, { operator: of(request), ...request.params }, clock())
      return reply.status(204).send(null)
    },
  })
}

export function ownRecoveryLinkRoutes(host: Host, { kernel, lifecycle, sessions }: RecoveryLinkServices): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listOwnRecoveryLinks,
    onRequest: session.onRequest,
    handler: async (request) => ({
      recoveryLinks: await listOwnRecoveryLinks(db, session.of(request), clock()),
    }),
  })

  host.route({
    ...endpoints.stopOwnRecoveryLink,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { recoveryLinkId } = request.params
      await stopOwnRecoveryLink({ db, lifecycle, sessions }, { session: session.of(request), recoveryLinkId }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.acceptRecovery,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { recoveryLinkId } = request.params
      await acceptRecovery(db, { session: session.of(request), recoveryLinkId }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.liftRecoveryLimit,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const address = clientAddressKey(request)
      await rateLimits.check('recovery-failures-per-ip', address)
      const lifting = { session: session.of(request), ...request.body }
      await liftLimit(db, lifting, clock()).catch(async (error: unknown) => {
        if (error instanceof ApiError) await rateLimits.count('recovery-failures-per-ip', address)
        throw error
      })
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.stopMailedRecoveryLink,
    async handler(request, reply) {
      await rateLimits.count('recovery-stops-per-ip', clientAddressKey(request))
      await stopMailedRecoveryLink({ db, lifecycle, sessions }, request.body.stop, clock())
      return reply.status(204).send(null)
    },
  })
}

export function redemptionRoutes(host: Host, services: RecoveryLinkServices): void {
  const { kernel } = services
  const { config, rateLimits } = kernel

  host.route({
    ...endpoints.startRedemption,
    async handler(request, reply) {
      await rateLimits.count('recovery-redemptions-per-ip', clientAddressKey(request))
      const browserSha256 = bindToBrowser(request, reply, config.baseUrl)
      return startRedemption(kernel, { ...request.body, browserSha256 })
    },
  })

  host.route({
    ...endpoints.finishRedemption,
    async handler(request) {
      const finish = { ...request.body, client: flowClientOf(request, config.baseUrl) }
      const browser = { userAgent: request.headers['user-agent'], language: negotiateLanguage(request) }
      const { validFrom } = await finishRedemption(services, finish, browser)
      return { validFrom: validFrom.toISOString(), keysStayClosed: true as const }
    },
  })
}
