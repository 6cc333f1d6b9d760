import * as endpoints from '@countersign/protocol/clients/service-webhooks'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { listDeliveries, redeliver, rotateSecret, sendTestEvent } from './deliveries.ts'
import { createWebhook, getWebhook, listWebhooks, removeWebhook, updateWebhook } from './webhook.ts'

const deliveriesDefault = 50

export function serviceWebhookRoutes(host: Host, kernel: ServerContext): void {
  const guard = adminGuard(kernel)
  mountWebhooks(host, kernel, guard)
  mountDeliveries(host, kernel, guard)
}

type Guard = ReturnType<typeof adminGuard>

function mountWebhooks(host: Host, kernel: ServerContext, { onRequest, of }: Guard): void {
  const { db, clock } = kernel

  host.route({
    ...endpoints.listServiceWebhooks,
    onRequest,
    async handler() {
      return { webhooks: await listWebhooks(db) }
    },
  })

  host.route({
    ...endpoints.createServiceWebhook,
    onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await createWebhook(kernel, of(request), request.body, clock()))
    },
  })

  host.route({
    ...endpoints.getServiceWebhook,
    onRequest,
    handler: (request) => getWebhook(db, request.params.webhookId),
  })

  host.route({
    ...endpoints.updateServiceWebhook,
    onRequest,
    handler: (request) => updateWebhook(kernel, of(request), { ...request.body, ...request.params }, clock()),
  })

  host.route({
    ...endpoints.deleteServiceWebhook,
    onRequest,
    async handler(request, reply) {
      await removeWebhook(kernel, of(request), request.params.webhookId, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.rotateServiceWebhookSecret,
    onRequest,
    async handler(request, reply) {
      const rotated = { ...request.params, graceSeconds: request.body?.graceSeconds ?? 0 }
      const { secret, previousUntil } = await rotateSecret(kernel, of(request), rotated, clock())
      return reply.status(201).send({ secret, previousUntil: previousUntil.toISOString() })
    },
  })
}

function mountDeliveries(host: Host, kernel: ServerContext, { onRequest, of }: Guard): void {
  const { db, clock } = kernel

  host.route({
    ...endpoints.testServiceWebhook,
    onRequest,
    async handler(request, reply) {
      const deliveryId = await sendTestEvent(kernel, of(request), request.params.webhookId, clock())
      return reply.status(201).send({ deliveryId })
    },
  })

  host.route({
    ...endpoints.listServiceWebhookDeliveries,
    onRequest,
    handler({ params, query }) {
      const page = { before: query.cursor, count: Number(query.limit ?? deliveriesDefault) }
      return listDeliveries(db, params.webhookId, page)
    },
  })

  host.route({
    ...endpoints.redeliverServiceWebhook,
    onRequest,
    handler: (request) => redeliver(kernel, of(request), request.params, clock()),
  })
}
