import * as developer from '@countersign/protocol/clients/developer'
import * as endpoints from '@countersign/protocol/clients/webhooks'
import type { ClientId } from '@countersign/protocol/ids'
import type { FastifyRequest } from 'fastify'
import {
  type EndpointShape,
  type ManagedAppRef,
  type ManagementApi,
  adminManagementApi,
  developerManagementApi,
} from '#clients/registration/management.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { listDeliveries, redeliver, sendTestEvent } from './delivery.ts'
import { getWebhook, removeWebhook, setWebhook } from './endpoint.ts'
import { rotateWebhookSecret } from './secret.ts'

const deliveriesDefault = 50

export function webhookRoutes(host: Host, kernel: ServerContext): void {
  mountOperations(host, kernel, ofOperator(kernel))
  if (kernel.config.developerPortal) mountOperations(host, kernel, ofPerson(kernel))
}

/** Webhook endpoints of one kind of manager. */
type Operations = ManagementApi & {
  read: EndpointShape<typeof endpoints.getWebhook>
  set: EndpointShape<typeof endpoints.setWebhook>
  remove: EndpointShape<typeof endpoints.removeWebhook>
  rotateSecret: EndpointShape<typeof endpoints.rotateWebhookSecret>
  test: EndpointShape<typeof endpoints.testWebhook>
  listDeliveries: EndpointShape<typeof endpoints.listWebhookDeliveries>
  sendAgain: EndpointShape<typeof endpoints.redeliverWebhook>
}

function ofOperator(kernel: ServerContext): Operations {
  return {
    ...adminManagementApi(kernel),
    read: endpoints.getWebhook,
    set: endpoints.setWebhook,
    remove: endpoints.removeWebhook,
    rotateSecret: endpoints.rotateWebhookSecret,
    test: endpoints.testWebhook,
    listDeliveries: endpoints.listWebhookDeliveries,
    sendAgain: endpoints.redeliverWebhook,
  }
}

/** Returns the endpoints of the developer portal, for the webhooks of a user's own apps. */
function ofPerson(kernel: ServerContext): Operations {
  return {
    ...developerManagementApi(kernel),
    read: developer.getOwnWebhook,
    set: developer.setOwnWebhook,
    remove: developer.removeOwnWebhook,
    rotateSecret: developer.rotateOwnWebhookSecret,
    test: developer.testOwnWebhook,
    listDeliveries: developer.listOwnWebhookDeliveries,
    sendAgain: developer.redeliverOwnWebhook,
  }
}

function mountOperations(host: Host, kernel: ServerContext, management: Operations): void {
  const targetOf = (request: FastifyRequest, { clientId }: { clientId: ClientId }): ManagedAppRef => {
    return { manager: management.managerOf(request), clientId }
  }
  mountWebhook(host, kernel, management, targetOf)
  mountDeliveries(host, kernel, management, targetOf)
}

type Seeking = (request: FastifyRequest, params: { clientId: ClientId }) => ManagedAppRef

function mountWebhook(host: Host, kernel: ServerContext, management: Operations, targetOf: Seeking): void {
  const { db, clock } = kernel
  const { onRequest, onChange } = management

  host.route({
    ...management.read,
    onRequest,
    handler: async (request) => getWebhook(db, targetOf(request, request.params)),
  })

  host.route({
    ...management.set,
    onRequest: onChange,
    handler: async (request) => setWebhook(kernel, targetOf(request, request.params), request.body, clock()),
  })

  host.route({
    ...management.remove,
    onRequest: onChange,
    async handler(request, reply) {
      await removeWebhook(db, targetOf(request, request.params), clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...management.rotateSecret,
    onRequest: onChange,
    async handler(request, reply) {
      const graceSeconds = request.body?.graceSeconds ?? 0
      const { secret, previousUntil } = await rotateWebhookSecret(
        kernel,
        targetOf(request, request.params),
        graceSeconds,
        clock(),
      )
      return reply.status(201).send({ secret, previousUntil: previousUntil.toISOString() })
    },
  })
}

function mountDeliveries(host: Host, kernel: ServerContext, management: Operations, targetOf: Seeking): void {
  const { db, clock } = kernel
  const { onRequest, onChange } = management

  host.route({
    ...management.test,
    onRequest: onChange,
    async handler(request, reply) {
      const deliveryId = await sendTestEvent(kernel, targetOf(request, request.params), clock())
      return reply.status(201).send({ deliveryId })
    },
  })

  host.route({
    ...management.listDeliveries,
    onRequest,
    async handler(request) {
      const { cursor, limit } = request.query
      const page = { before: cursor, count: Number(limit ?? deliveriesDefault) }
      return listDeliveries(db, targetOf(request, request.params), page)
    },
  })

  host.route({
    ...management.sendAgain,
    onRequest: onChange,
    async handler(request) {
      const { deliveryId } = request.params
      return redeliver(db, { ...targetOf(request, request.params), deliveryId }, clock())
    },
  })
}
