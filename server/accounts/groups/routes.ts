import * as endpoints from '@countersign/protocol/accounts/groups'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type GroupTarget, createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './group.ts'
import { type MemberChange, changeMembers, listMembers } from './member.ts'

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
  memberRoutes(host, kernel)
}

/** Registers the management of the members of groups. */
function memberRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)
  const change = (target: GroupTarget, { add = [], remove = [] }: Partial<MemberChange>) =>
    changeMembers(db, target, { add, remove }, clock())

  host.route({
    ...endpoints.listGroupMembers,
    onRequest,
    handler: ({ params, query: { cursor, limit } }) =>
      listMembers(db, params.groupId, { after: cursor, count: Number(limit ?? pageDefault) }),
  })

  host.route({
    ...endpoints.addGroupMember,
    onRequest,
    async handler(request, reply) {
      const { groupId, identityId } = request.params
      await change({ operator: of(request), groupId }, { add: [identityId] })
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.removeGroupMember,
    onRequest,
    async handler(request, reply) {
      const { groupId, identityId } = request.params
      await change({ operator: of(request), groupId }, { remove: [identityId] })
      return reply.status(204).send(null)
    },
  })

  host.route({
    ...endpoints.changeGroupMembers,
    onRequest,
    handler(request) {
      const { add = [], remove = [] } = request.body
      return change({ operator: of(request), groupId: request.params.groupId }, { add, remove })
    },
  })
}
