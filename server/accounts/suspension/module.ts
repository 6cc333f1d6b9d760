import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/suspension'
import { defineModule } from '#platform/module/define-module.ts'
import { suspensionRoutes, type SuspensionServices } from './routes.ts'

const auditActions = ['identity.suspended', 'identity.activated', 'identity.signed_out'] as const
/** One limit for what operators do to identities: suspend, activate, sign out, delete, restore. */
const rateLimits = { 'identity-acts-per-operator': { points: 60, seconds: 60 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/suspension': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/suspension': keyof typeof rateLimits
  }
}

export const suspension = defineModule<SuspensionServices>()({
  name: 'accounts/suspension',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => suspensionRoutes(hosts.api, services),
  auditActions,
  rateLimits,
})
