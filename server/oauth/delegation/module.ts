import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/oauth/delegations'
import { pruneDelegations, exportDelegations, revokeDelegations } from './delegation.ts'
import { delegationRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'delegation.granted',
  'delegation.scope_extended',
  'delegation.used',
  'delegation.revoked',
] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/delegation': (typeof auditActions)[number]
  }
}

export const delegation = defineModule()({
  name: 'oauth/delegation',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => delegationRoutes(hosts.api, kernel),
  auditActions,
  tables: {
    delegation_grant: { backup: 'include', placement: { by: 'identity_id' }, export: 'delegations' },
    delegation_usage: { backup: 'include', placement: { by: 'identity_id' }, export: 'delegations' },
    delegation_former_identity: {
      backup: 'include',
      placement: { by: 'identity_id' },
      export: { because: 'It names deleted identities alone.' },
    },
  },
  cleanupTasks: { delegations: pruneDelegations },
  ended: { access: (tx, { identityIds }, now) => revokeDelegations(tx, identityIds, now) },
  exported: { account: { delegations: exportDelegations } },
})
