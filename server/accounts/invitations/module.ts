import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/invitations'
import { addGroupMember, changeGroupMembers, removeGroupMember } from '@countersign/protocol/accounts/groups'
import { defineModule } from '#platform/module/define-module.ts'
import { admissionOfRegistration } from './acceptance.ts'
import { memberRoutes } from './invited/member-routes.ts'
import { pruneInvitations } from './invitation.ts'
import { startMailing } from './mailing.ts'
import { accountInvitationRoutes } from './routes.ts'
import { deleteAccepted } from './store.ts'

const auditActions = [
  'invitation.created',
  'invitation.resent',
  'invitation.deleted',
  'invitation.accepted',
  'identity.invited',
] as const
const rateLimits = {
  'operator-mails-per-address': { points: 10, seconds: 24 * 3600 },
  'account-invitation-previews': { points: 60, seconds: 60 },
  'invitation-imports-per-operator': { points: 10, seconds: 3600 },
  'invitation-import-checks-per-operator': { points: 60, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/invitations': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/invitations': keyof typeof rateLimits
  }
}

export const invitations = defineModule()({
  name: 'accounts/invitations',
  endpoints: [...endpointsOf(endpoints), addGroupMember, removeGroupMember, changeGroupMembers],
  mount(hosts, { kernel }) {
    accountInvitationRoutes(hosts.api, kernel)
    memberRoutes(hosts.api, kernel)
  },
  auditActions,
  rateLimits,
  // A restore has no invitations. Operators invite its invited identities again.
  tables: {
    invitation: {
      backup: 'exclude',
      placement: 'every node',
      export: { because: 'Operators wrote it, and it ends with the identity that accepted it.' },
    },
    invited_identity: { backup: 'include', placement: 'every node', export: { because: 'No account has it.' } },
  },
  cleanupTasks: { 'account-invitations': pruneInvitations },
  background: startMailing,
  ended: { identities: (tx, { identityIds }) => deleteAccepted(tx, identityIds) },
  registered: admissionOfRegistration,
})
