import * as endpoints from '@countersign/protocol/webhooks'
import type { FastifyRequest } from 'fastify'
import { adminGuard } from '#apps/operator.ts'
import type { Sought } from '#apps/steward.ts'
import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { listDeliveries, testWebhook } from './delivery.ts'
import { readWebhook, removeWebhook, setWebhook } from './endpoint.ts'
import { rotateWebhookSecret } from './secret.ts'

const deliveriesDefault = 50

export function webhookRoutes(host: Host, kernel: Kernel): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)
  const sought = (request: FastifyRequest, { clientId }: { clientId: string }): Sought => {
    return { steward: of(request), clientId }
  }

  host.route({
    ...endpoints.readWebhook,
    onRequest,
    handler: async (request) => readWebhook(db, sought(request, request.params)),
  })

  host.route({
    ...endpoints.setWebhook,
    onRequest,
    handler: async (request) => setWebhook(kernel, sought(request, request.params), request.body.url, clock()),
  })

  host.route({
    ...endpoints.removeWebhook,
    onRequest,
    async handler(request, reply) {
      await removeWebhook(db, sought(request, request.params), clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.rotateWebhookSecret,
    onRequest,
    async handler(request, reply) {
      const graceSeconds = request.body?.graceSeconds ?? 0
      const { secret, previousUntil } = await rotateWebhookSecret(
        kernel,
        sought(request, request.params),
        graceSeconds,
        clock(),
      )
      return reply.status(201).send({ secret, previousUntil: previousUntil.toISOString() })
    },
  })

  host.route({
    ...endpoints.testWebhook,
    onRequest,
    async handler(request, reply) {
      const deliveryId = await testWebhook(db, sought(request, request.params), clock())
      return reply.status(201).send({ deliveryId })
    },
  })

  host.route({
    ...endpoints.listWebhookDeliveries,
    onRequest,
    async handler(request) {
      const { cursor, limit } = request.query
      const page = { before: cursor, count: Number(limit ?? deliveriesDefault) }
      return listDeliveries(db, sought(request, request.params), page)
    },
  })
}
