import * as developer from '@countersign/protocol/clients/developer'
import * as endpoints from '@countersign/protocol/clients/webhooks'
import type { FastifyRequest } from 'fastify'
import { operatorDesk, personDesk, type Addressed, type Desk } from '#clients/registration/desk.ts'
import type { Sought } from '#clients/registration/steward.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { listDeliveries, sendAgain, testWebhook } from './delivery.ts'
import { readWebhook, removeWebhook, setWebhook } from './endpoint.ts'
import { rotateWebhookSecret } from './secret.ts'

const deliveriesDefault = 50

export function webhookRoutes(host: Host, kernel: Kernel): void {
  mountDesk(host, kernel, ofOperator(kernel))
  if (kernel.config.developerPortal) mountDesk(host, kernel, ofPerson(kernel))
}

/** The operations on webhooks at the addresses of one kind of steward. */
type Operations = Desk & {
  read: Addressed<typeof endpoints.readWebhook>
  set: Addressed<typeof endpoints.setWebhook>
  remove: Addressed<typeof endpoints.removeWebhook>
  rotateSecret: Addressed<typeof endpoints.rotateWebhookSecret>
  test: Addressed<typeof endpoints.testWebhook>
  listDeliveries: Addressed<typeof endpoints.listWebhookDeliveries>
  sendAgain: Addressed<typeof endpoints.sendWebhookAgain>
}

function ofOperator(kernel: Kernel): Operations {
  return {
    ...operatorDesk(kernel),
    read: endpoints.readWebhook,
    set: endpoints.setWebhook,
    remove: endpoints.removeWebhook,
    rotateSecret: endpoints.rotateWebhookSecret,
    test: endpoints.testWebhook,
    listDeliveries: endpoints.listWebhookDeliveries,
    sendAgain: endpoints.sendWebhookAgain,
  }
}

/** The developer portal: the webhooks of a person's own apps. */
function ofPerson(kernel: Kernel): Operations {
  return {
    ...personDesk(kernel),
    read: developer.readOwnWebhook,
    set: developer.setOwnWebhook,
    remove: developer.removeOwnWebhook,
    rotateSecret: developer.rotateOwnWebhookSecret,
    test: developer.testOwnWebhook,
    listDeliveries: developer.listOwnWebhookDeliveries,
    sendAgain: developer.sendOwnWebhookAgain,
  }
}

function mountDesk(host: Host, kernel: Kernel, desk: Operations): void {
  const sought = (request: FastifyRequest, { clientId }: { clientId: string }): Sought => {
    return { steward: desk.stewardOf(request), clientId }
  }
  mountWebhook(host, kernel, desk, sought)
  mountDeliveries(host, kernel, desk, sought)
}

type Seeking = (request: FastifyRequest, params: { clientId: string }) => Sought

function mountWebhook(host: Host, kernel: Kernel, desk: Operations, sought: Seeking): void {
  const { db, clock } = kernel
  const { onRequest, onChange } = desk

  host.route({
    ...desk.read,
    onRequest,
    handler: async (request) => readWebhook(db, sought(request, request.params)),
  })

  host.route({
    ...desk.set,
    onRequest: onChange,
    handler: async (request) => setWebhook(kernel, sought(request, request.params), request.body.url, clock()),
  })

  host.route({
    ...desk.remove,
    onRequest: onChange,
    async handler(request, reply) {
      await removeWebhook(db, sought(request, request.params), clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...desk.rotateSecret,
    onRequest: onChange,
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
}

function mountDeliveries(host: Host, kernel: Kernel, desk: Operations, sought: Seeking): void {
  const { db, clock } = kernel
  const { onRequest, onChange } = desk

  host.route({
    ...desk.test,
    onRequest: onChange,
    async handler(request, reply) {
      const deliveryId = await testWebhook(kernel, sought(request, request.params), clock())
      return reply.status(201).send({ deliveryId })
    },
  })

  host.route({
    ...desk.listDeliveries,
    onRequest,
    async handler(request) {
      const { cursor, limit } = request.query
      const page = { before: cursor, count: Number(limit ?? deliveriesDefault) }
      return listDeliveries(db, sought(request, request.params), page)
    },
  })

  host.route({
    ...desk.sendAgain,
    onRequest: onChange,
    async handler(request) {
      const { deliveryId } = request.params
      return sendAgain(db, { ...sought(request, request.params), deliveryId }, clock())
    },
  })
}
