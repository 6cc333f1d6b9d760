import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/domains'
import { recheckDomains } from './domain-check.ts'
import { notifyOfLosses } from './loss.ts'
import { acts, domainRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'organization.domain.added',
  'organization.domain.verified',
  'organization.domain.verification_failing',
  'organization.domain.verification_expired',
  'organization.domain.removed',
] as const
const rateLimits = {
  'domains-added-per-organization': { points: 100, seconds: 3600 },
  'domain-checks': { points: 30, seconds: 60 },
  'domain-checks-per-organization': { points: 10, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/domains': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'organizations/domains': keyof typeof rateLimits
  }
}

export const domains = defineModule()({
  name: 'organizations/domains',
  endpoints: endpointsOf(endpoints),
  acts,
  mount: (hosts, { kernel }) => domainRoutes(hosts.business, kernel),
  auditActions,
  rateLimits,
  tables: {
    organization_domain: { backup: 'include', placement: 'every node' },
    organization_domain_loss: { backup: 'include', placement: 'every node' },
    organization_verified_domain: { backup: 'include', placement: 'every node' },
  },
  maintenanceTasks: { 'recheck-domains': recheckDomains, 'notify-of-lost-domains': notifyOfLosses },
})
