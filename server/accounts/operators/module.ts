import { endpointsOf } from '@countersign/protocol/endpoint'
import * as tokenEndpoints from '@countersign/protocol/accounts/admin-tokens'
import * as endpoints from '@countersign/protocol/accounts/operators'
import { defineModule } from '#platform/module/define-module.ts'
import { exportOperator, pruneAdminTokens } from './admin-token.ts'
import { endOperators, suspendOperators, stripOperators } from './operator.ts'
import { adminTokenRoutes, operatorRoutes, ownOperatorRoutes, setupRoutes } from './routes.ts'
import { pruneSetupLinks, setupOfRegistration } from './setup.ts'

const auditActions = [
  'operator.added',
  'operator.updated',
  'operator.removed',
  'admin_token.created',
  'admin_token.rotated',
  'admin_token.revoked',
  'admin_token.break_glass_used',
] as const
const rateLimits = {
  'admin-reads-per-operator': { points: 600, seconds: 60 },
  'admin-changes-per-operator': { points: 120, seconds: 60 },
  'setup-checks-per-ip': { points: 30, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/operators': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/operators': keyof typeof rateLimits
  }
}

export const operators = defineModule()({
  name: 'accounts/operators',
  endpoints: [...endpointsOf(endpoints), ...endpointsOf(tokenEndpoints)],
  pages: () => ({
    auth: {
      '/admin': 'admin',
      '/admin/:section': 'admin',
      '/admin/:section/:id': 'admin',
      '/admin/:section/:id/:tab': 'admin',
    },
  }),
  mount(hosts, { kernel }) {
    operatorRoutes(hosts.api, kernel)
    ownOperatorRoutes(hosts.api, kernel)
    adminTokenRoutes(hosts.api, kernel)
    setupRoutes(hosts.api, kernel)
  },
  auditActions,
  rateLimits,
  tables: {
    operator: { backup: 'include', placement: 'every node', export: 'identities.operator' },
    admin_token: { backup: 'include', placement: 'every node', export: 'identities.operator' },
    setup_link: { backup: 'exclude', placement: 'every node' },
  },
  cleanupTasks: { 'admin-tokens': pruneAdminTokens, 'setup-links': pruneSetupLinks },
  ended: {
    identities: (tx, { identityIds }, now) => endOperators(tx, identityIds, now),
    access: (tx, { identityIds }, now) => suspendOperators(tx, identityIds, now),
    recovered: (tx, { identityIds }, now) => stripOperators(tx, identityIds, now),
  },
  exported: { identity: { operator: exportOperator } },
  registered: setupOfRegistration,
})
