import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/council'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { acts, councilRoutes } from './routes.ts'

const auditActions = [
  'organization.signatory.admitted',
  'organization.signatory.suspended',
  'organization.council.reset_requested',
  'organization.council.reset_vetoed',
  'organization.council.reset',
] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/council': (typeof auditActions)[number]
  }
}

export const council = defineModule<{ kernel: ServerContext }>()({
  name: 'organizations/council',
  endpoints: endpointsOf(endpoints),
  acts,
  mount: (hosts, { kernel }) => councilRoutes(hosts.business, kernel),
  auditActions,
})
