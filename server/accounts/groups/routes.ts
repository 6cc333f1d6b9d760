import * as endpoints from '@countersign/protocol/accounts/groups'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './group.ts'
import { listMembers } from './member.ts'

const pageDefault = 100

/** Registers the management of groups by operators. */
export function groupRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)

  host.route({
    ...endpoints.listGroups,
    onRequest,
    handler: ({ query: { key, cursor, limit } }) =>
      listGroups(db, { key, after: cursor, count: Number(limit ?? pageDefault) }),
  })

  host.route({
    ...endpoints.createGroup,
    onRequest,
    handler: async (request, reply) =>
      reply.status(201).send(await createGroup(db, of(request), request.body, clock())),
  })

  host.route({ ...endpoints.getGroup, onRequest, handler: ({ params }) => getGroup(db, params.groupId) })

  host.route({
    ...endpoints.updateGroup,
    onRequest,
    handler: (request) =>
      updateGroup(db, { operator: of(request), groupId: request.params.groupId }, request.body, clock()),
  })

  host.route({
    ...endpoints.deleteGroup,
    onRequest,
    async handler(request, reply) {
      await deleteGroup(db, { operator: of(request), groupId: request.params.groupId }, clock())
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.listGroupMembers,
    onRequest,
    handler(request) {
      const { cursor, limit } = request.query
      const page = { ...request.params, after: cursor, count: Number(limit ?? pageDefault) }
      return listMembers(kernel, { operator: of(request), ...page }, clock())
    },
  })
}
