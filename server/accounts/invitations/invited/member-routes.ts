import * as endpoints from '@countersign/protocol/accounts/groups'
import type { GroupTarget } from '#accounts/groups/group.ts'
import type { MemberChange } from '#accounts/groups/member.ts'
import { adminGuard } from '#accounts/operators/operator-guard.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { changeMembers } from './member.ts'

/** Registers the changes of the members of groups by operators. */
export function memberRoutes(host: Host, kernel: ServerContext): void {
  const { db, clock } = kernel
  const { onRequest, of } = adminGuard(kernel)
  const change = (target: GroupTarget, { add = [], remove = [] }: Partial<MemberChange>) =>
    changeMembers(db, target, { add, remove }, clock())

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
