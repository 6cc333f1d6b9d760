import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/people'
import { peopleRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['identities.listed', 'identity.viewed'] as const
const rateLimits = { 'identity-lists-per-operator': { points: 120, seconds: 60 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/people': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/people': keyof typeof rateLimits
  }
}

export const people = defineModule()({
  name: 'operations/people',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => peopleRoutes(hosts.api, kernel),
  auditActions,
  rateLimits,
})
