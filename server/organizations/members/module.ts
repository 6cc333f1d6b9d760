import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/organizations'
import * as invitationEndpoints from '@countersign/protocol/organizations/invitations'
import * as pictures from '@countersign/protocol/organizations/pictures'
import * as operatorView from '@countersign/protocol/organizations/operator-view'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { continueOrganizationEndings } from './ending.ts'
import { pruneInvitations } from './invitations/invitation.ts'
import { listOwnInvitations } from './invitations/preview.ts'
import { ownInvitationRoutes } from './invitations/invitation-routes.ts'
import { oversightRoutes } from './operator-view.ts'
import { endSigningOfOrganizations } from './lost-keys.ts'
import { exportMemberships } from './organization.ts'
import { holdOrganizations, removeFromOrganizations } from './removal.ts'
import {
  accountOrganizationRoutes,
  acts,
  organizationRoutes,
  type OrganizationServices,
  workspaceRoutes,
} from './routes.ts'
import { pruneSlugs } from './slug.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'organization.created',
  'organization.updated',
  'organization.deleted',
  'organization.suspended',
  'organization.reactivated',
  'organization.member.joined',
  'organization.member.updated',
  'organization.member.removed',
  'organization.member.keys_reset',
  'organization.invitation.created',
  'organization.invitation.revoked',
  'organization.invitation.mailed',
  'organization.invitation.declined',
] as const
const rateLimits = {
  'organizations-created-per-user': { points: 20, seconds: 24 * 3600 },
  'invitations-per-user': { points: 100, seconds: 24 * 3600 },
  'invitation-previews': { points: 120, seconds: 3600 },
  'member-lists-per-user': { points: 1200, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/members': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'organizations/members': keyof typeof rateLimits
  }
}

export const members = defineModule<OrganizationServices & { apps: AppDirectory; keys: SigningKeys }>()({
  name: 'organizations/members',
  endpoints: [
    ...endpointsOf(endpoints),
    ...endpointsOf(invitationEndpoints),
    ...endpointsOf(pictures),
    ...endpointsOf(operatorView),
  ],
  acts,
  pages: () => ({
    auth: { '/act': 'act' },
    business: {
      '/organizations': 'business',
      '/organizations/new': 'business',
      '/organizations/:organizationId': 'business',
      '/organizations/:organizationId/:section': 'business',
      '/invitations/:token': 'business',
    },
  }),
  mount(hosts, services) {
    workspaceRoutes(hosts.api, services)
    accountOrganizationRoutes(hosts.api, services.kernel)
    ownInvitationRoutes(hosts.api, services.kernel)
    oversightRoutes(hosts.api, services.kernel)
    organizationRoutes(hosts.business, services)
  },
  auditActions,
  rateLimits,
  tables: {
    organization: { backup: 'include', placement: 'every node' },
    // A backup has no tokens.
    organization_ending: { backup: 'exclude', placement: 'every node' },
    organization_slug: { backup: 'include', placement: 'every node' },
    organization_member: { backup: 'include', placement: 'every node', export: 'organizations' },
    organization_invitation: { backup: 'exclude', placement: 'every node', export: 'invitations' },
  },
  cleanupTasks: {
    'organization-slugs': pruneSlugs,
    invitations: pruneInvitations,
    'organization-endings': continueOrganizationEndings,
  },
  ended: {
    identities: (tx, leaving, now) => removeFromOrganizations(tx, leaving, now),
    access: (tx, { identityIds }) => holdOrganizations(tx, identityIds),
    keys: (tx, losing, now) => endSigningOfOrganizations(tx, losing, now),
  },
  exported: {
    account: {
      organizations: (db, { userId }) => exportMemberships(db, userId),
      invitations: listOwnInvitations,
    },
  },
})
