import * as endpoints from '@countersign/protocol/operations/sinks'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { createSink, deleteSink, getSink, listSinks, replaySink, rotateSecret, testSink, updateSink } from './sink.ts'

export function sinkRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listSinks,
    onRequest,
    async handler() {
      return { sinks: await listSinks(db) }
    },
  })

  host.route({
    ...endpoints.createSink,
    onRequest,
    async handler(request, reply) {
      return reply.status(201).send(await createSink(kernel, of(request), request.body, clock()))
    },
  })

  host.route({
    ...endpoints.getSink,
    onRequest,
    handler: (request) => getSink(db, request.params.sinkId),
  })

  host.route({
    ...endpoints.updateSink,
    onRequest,
    handler: (request) => updateSink(kernel, of(request), { ...request.body, ...request.params }, clock()),
  })

  host.route({
    ...endpoints.deleteSink,
    onRequest,
    async handler(request, reply) {
      await deleteSink(kernel, of(request), request.params.sinkId, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.replaySink,
    onRequest,
    handler: (request) => replaySink(kernel, of(request), { ...request.params, ...request.body }, clock()),
  })

  host.route({
    ...endpoints.rotateSinkSecret,
    onRequest,
    async handler(request, reply) {
      const rotated = { ...request.params, graceSeconds: request.body?.graceSeconds ?? 0 }
      const { secret, previousUntil } = await rotateSecret(kernel, of(request), rotated, clock())
      return reply.status(201).send({ secret, previousUntil: previousUntil.toISOString() })
    },
  })

  host.route({
    ...endpoints.testSink,
    onRequest,
    async handler(request) {
      return { error: await testSink(kernel, of(request), request.params.sinkId, clock()) }
    },
  })
}
