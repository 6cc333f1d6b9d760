import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/recovery/links'
import { defineModule } from '#platform/module/define-module.ts'
import { pruneRecoveryLinks } from './recovery-link.ts'
import { startCompleting } from './completion.ts'
import { ownRecoveryLinkRoutes, recoveryLinkRoutes, type RecoveryLinkServices, redemptionRoutes } from './routes.ts'
import { deleteLinksOfIdentities } from './store.ts'

const auditActions = [
  'recovery_link.issued',
  'recovery_link.cancelled',
  'recovery_link.redeemed',
  'recovery_link.stopped',
  'recovery_link.completed',
  'recovery_link.undone',
  'recovery_link.accepted',
  'recovery_link.settled',
] as const
const rateLimits = {
  'recovery-links-per-operator': { points: 10, seconds: 3600 },
  'recovery-links-per-identity': { points: 3, seconds: 24 * 3600 },
  'recovery-stops-per-ip': { points: 30, seconds: 60 },
  'recovery-redemptions-per-ip': { points: 30, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/recovery-links': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/recovery-links': keyof typeof rateLimits
  }
}

export const recoveryLinks = defineModule<RecoveryLinkServices>()({
  name: 'accounts/recovery-links',
  endpoints: endpointsOf(endpoints),
  pages: () => ({ auth: { '/recover/link': 'recover-link', '/recover/stop': 'recover-link' } }),
  mount(hosts, services) {
    recoveryLinkRoutes(hosts.api, services)
    ownRecoveryLinkRoutes(hosts.api, services)
    redemptionRoutes(hosts.api, services)
  },
  background: startCompleting,
  auditActions,
  rateLimits,
  // A restored backup must not complete what was stopped after it was taken.
  tables: { recovery_link: { backup: 'exclude', placement: 'every node', export: 'activity' } },
  cleanupTasks: { 'recovery-links': pruneRecoveryLinks },
  ended: {
    identities: (tx, { userId, identityIds }) => deleteLinksOfIdentities(tx, userId, identityIds),
  },
})
