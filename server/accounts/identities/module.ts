import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/identities'
import { findPendingEmail, pruneEmailVerifications } from './email.ts'
import { listFormerHandles, pruneHandles } from './handle.ts'
import { exportRecord } from './managed.ts'
import { pruneSuspensions } from './suspension.ts'
import { identityRoutes, type IdentityServices } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'identity.created',
  'identity.updated',
  'identity.handle.updated',
  'identity.email_verification.requested',
  'identity.email.verified',
  'identity.email.removed',
] as const
const rateLimits = {
  'profile-changes-per-user': { points: 60, seconds: 3600 },
  'handle-changes-per-user': { points: 10, seconds: 24 * 3600 },
  'mails-per-address': { points: 10, seconds: 24 * 3600 },
  'email-verifications-per-address-and-user': { points: 5, seconds: 24 * 3600 },
  'email-verifications-per-address': { points: 20, seconds: 24 * 3600 },
  'mails-per-user': { points: 20, seconds: 24 * 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/identities': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/identities': keyof typeof rateLimits
  }
}

export const identities = defineModule<IdentityServices>()({
  name: 'accounts/identities',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => identityRoutes(hosts.api, services),
  auditActions,
  rateLimits,
  tables: {
    user_account: { backup: 'include', placement: { by: 'user_id' }, export: 'user' },
    identity: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities' },
    identity_handle: { backup: 'include', placement: { by: 'handle_normalized' }, export: 'identities.formerHandles' },
    identity_email_verification: {
      backup: 'exclude',
      placement: { by: 'identity_id' },
      export: 'identities.unprovedEmail',
    },
    account_suspension: { backup: 'include', placement: { by: 'identity_id' }, export: 'activity' },
    identity_deletion: { backup: 'include', placement: { by: 'identity_id' }, export: 'activity' },
    // A restore derives them from the identities.
    identity_term: {
      backup: 'exclude',
      placement: { by: 'identity_id' },
      export: { because: 'It finds the names and the address, which the export has.' },
    },
  },
  cleanupTasks: {
    'email-verifications': pruneEmailVerifications,
    handles: pruneHandles,
    suspensions: pruneSuspensions,
  },
  exported: {
    identity: { unprovedEmail: findPendingEmail, formerHandles: listFormerHandles, record: exportRecord },
  },
})
