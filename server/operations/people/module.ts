import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/people'
import { type PeopleServices, peopleRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['identities.listed', 'identity.viewed', 'identity.exported', 'identity.edited'] as const
const rateLimits = {
  'identity-lists-per-operator': { points: 120, seconds: 60 },
  'identity-exports-per-operator': { points: 6, seconds: 60 },
  'identity-edits-per-operator': { points: 60, seconds: 60 },
} as const

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

export const people = defineModule<PeopleServices>()({
  name: 'operations/people',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => peopleRoutes(hosts.api, services),
  auditActions,
  rateLimits,
})
