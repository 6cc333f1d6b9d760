import { endpointsOf } from '@countersign/protocol/endpoint'
import { listActivity } from '@countersign/protocol/accounts/account'
import * as endpoints from '@countersign/protocol/operations/audit'
import { readActivity } from '#platform/audit/audit-log.ts'
import { publishAuditHead } from './published-head.ts'
import { auditRoutes, organizationAuditRoutes, organizationTrailRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

export const auditLog = defineModule()({
  name: 'operations/audit',
  endpoints: [...endpointsOf(endpoints), listActivity],
  mount(hosts, { kernel }) {
    auditRoutes(hosts.api, kernel)
    organizationAuditRoutes(hosts.business, kernel)
    organizationTrailRoutes(hosts.business, kernel)
  },
  maintenanceTasks: { 'publish-audit-head': ({ db }, now) => publishAuditHead(db, now) },
  exported: { account: { activity: (db, { userId }) => readActivity(db, userId) } },
})
