import { endpointsOf } from '@countersign/protocol/endpoint'
import { listActivity } from '@countersign/protocol/accounts/account'
import * as endpoints from '@countersign/protocol/operations/audit'
import { readActivity } from '#platform/audit/audit-log.ts'
import { publishAuditHead } from './published-head.ts'
import { auditRoutes, organizationAuditRoutes, organizationTrailRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const rateLimits = { 'audit-exports-per-operator': { points: 6, seconds: 60 } } as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/audit': keyof typeof rateLimits
  }
}

export const auditLog = defineModule()({
  name: 'operations/audit',
  endpoints: [...endpointsOf(endpoints), listActivity],
  mount(hosts, { kernel }) {
    auditRoutes(hosts.api, kernel)
    organizationAuditRoutes(hosts.business, kernel)
    organizationTrailRoutes(hosts.business, kernel)
  },
  rateLimits,
  maintenanceTasks: { 'publish-audit-head': ({ db }, now) => publishAuditHead(db, now) },
  exported: { account: { activity: (db, { userId }) => readActivity(db, userId) } },
})
