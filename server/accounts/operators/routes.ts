import * as tokenEndpoints from '@countersign/protocol/accounts/admin-tokens'
import * as endpoints from '@countersign/protocol/accounts/operators'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { createAdminToken, listAdminTokens, revokeAdminToken, rotateAdminToken } from './admin-token.ts'
import { adminGuard } from './operator-guard.ts'
import { addOperator, listOperators, listOwnOperators, removeOperator, updateOperator } from './operator.ts'
import { completeSetup, requireSetupLink } from './setup.ts'

/** Registers the management of operators. */
export function operatorRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listOperators,
    onRequest,
    async handler() {
      return { operators: await listOperators(db) }
    },
  })

  host.route({
    ...endpoints.addOperator,
    onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await addOperator(db, of(request), request.body, clock()))
    },
  })

  host.route({
    ...endpoints.updateOperator,
    onRequest,
    async handler(request) {
      const { role, tokens = 'revoke' } = request.body
      return updateOperator(db, of(request), { ...request.params, role, tokens }, clock())
    },
  })

  host.route({
    ...endpoints.removeOperator,
    onRequest,
    async handler(request, reply) {
      const { tokens = 'revoke' } = request.query
      await removeOperator(db, of(request), { ...request.params, tokens }, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Registers what a user may know of their own roles. */
export function ownOperatorRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.listOwnOperators,
    onRequest: session.onRequest,
    async handler(request) {
      return { operators: await listOwnOperators(db, session.of(request).userId, clock()) }
    },
  })
}

/** Registers the management of admin tokens. */
export function adminTokenRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...tokenEndpoints.listAdminTokens,
    onRequest,
    async handler() {
      return { tokens: await listAdminTokens(db) }
    },
  })

  host.route({
    ...tokenEndpoints.createAdminToken,
    onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await createAdminToken(db, of(request), request.body, clock()))
    },
  })

  host.route({
    ...tokenEndpoints.rotateAdminToken,
    onRequest,
    async handler(request) {
      const { graceSeconds = 0 } = request.body
      const rotated = { tokenId: request.params.tokenId, graceSeconds }
      return rotateAdminToken(db, of(request), rotated, clock())
    },
  })

  host.route({
    ...tokenEndpoints.revokeAdminToken,
    onRequest,
    async handler(request, reply) {
      await revokeAdminToken(db, of(request), request.params.tokenId, clock())
      return reply.status(204).send(null)
    },
  })
}

/** Registers the setup by the first operator. */
export function setupRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock, rateLimits } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.checkSetupLink,
    async handler(request, reply) {
      await rateLimits.count('setup-checks-per-ip', clientAddressKey(request))
      await requireSetupLink(db, request.body.setup, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.becomeOwner,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await rateLimits.count('setup-checks-per-ip', clientAddressKey(request))
      await completeSetup(db, session.of(request), request.body, clock())
      return reply.status(204).send(null)
    },
  })
}
