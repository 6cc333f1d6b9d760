import * as endpoints from '@countersign/protocol/organizations/acts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { declineAct, getAct, listActTrail } from './act.ts'
import { type Performers, performAct } from './performance.ts'
import { callerOf, successOf } from './signable.ts'

/** Routes for the acts that a session has started, on the business host. */
export function actRoutes(host: Host, kernel: ServerContext, performers: Performers): void {
  const { clock } = kernel
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.getAct,
    onRequest: session.onRequest,
    async handler(request) {
      const own = { session: session.of(request), ...request.params }
      return getAct(kernel, own, (endpoint) => performers(endpoint).endpoint.schema, clock())
    },
  })

  host.route({
    ...endpoints.listActTrail,
    onRequest: session.onRequest,
    async handler(request) {
      const own = { session: session.of(request), ...request.params, after: Number(request.query.after ?? 0) }
      return { entries: await listActTrail(kernel, own, clock()) }
    },
  })

  host.route({
    ...endpoints.performAct,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const signed = { session: session.of(request), ...request.params, ...request.body, caller: callerOf(request) }
      const { action, result, endpoint } = await performAct(kernel, performers, signed, clock())
      if (!result) return { action, result }
      // The serializer of the endpoint writes what its answer has, and nothing else.
      const text = reply.serializeInput({ ...result }, successOf(endpoint).schema)
      return { action, result: JSON.parse(String(text)) }
    },
  })

  host.route({
    ...endpoints.declineAct,
    onRequest: session.onRequest,
    async handler(request, reply) {
      await declineAct(kernel, { session: session.of(request), ...request.params }, clock())
      return reply.status(204).send(null)
    },
  })
}
