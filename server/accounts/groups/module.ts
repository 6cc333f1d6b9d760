import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/groups'
import { defineModule } from '#platform/module/define-module.ts'
import { continueGroupEndings } from './ending.ts'
import { pruneDeletedGroups } from './group.ts'
import { deleteMemberships, exportGroupsOf } from './member.ts'
import { groupRoutes } from './routes.ts'
import { endExpiredMemberships } from './upstream.ts'

// `accounts/invitations` has the changes of members: they are of invited identities too.
const { addGroupMember: _add, removeGroupMember: _remove, changeGroupMembers: _change, ...ownEndpoints } = endpoints

const auditActions = [
  'group.created',
  'group.updated',
  'group.deleted',
  'group.member.added',
  'group.member.removed',
] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/groups': (typeof auditActions)[number]
  }
}

export const groups = defineModule()({
  name: 'accounts/groups',
  endpoints: endpointsOf(ownEndpoints),
  mount: (hosts, { kernel }) => groupRoutes(hosts.api, kernel),
  auditActions,
  tables: {
    user_group: { backup: 'include', placement: 'every node' },
    group_ending: { backup: 'include', placement: 'every node' },
    group_member: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities.groups' },
    group_member_by_group: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities.groups' },
  },
  cleanupTasks: {
    'deleted-groups': pruneDeletedGroups,
    'group-endings': continueGroupEndings,
    'ended-memberships': endExpiredMemberships,
  },
  ended: { identities: (tx, { identityIds }) => deleteMemberships(tx, identityIds) },
  exported: { identity: { groups: exportGroupsOf } },
})
