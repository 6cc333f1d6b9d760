import { createScimToken, deleteScimToken } from '@countersign/protocol/organizations/sso'
import { acts, scimRoutes, scimTokenRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'scim.token.created',
  'scim.token.revoked',
  'scim.user.created',
  'scim.user.updated',
  'scim.user.deleted',
] as const
const rateLimits = {
  'scim-authentication-failures': { points: 30, seconds: 60 },
  'scim-requests-per-connection': { points: 3000, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'sso/provisioning': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'sso/provisioning': keyof typeof rateLimits
  }
}

export const provisioning = defineModule()({
  name: 'sso/provisioning',
  endpoints: [createScimToken, deleteScimToken],
  acts,
  mount(hosts, { kernel }) {
    scimRoutes(hosts.api, kernel)
    scimTokenRoutes(hosts.business, kernel)
  },
  auditActions,
  rateLimits,
  tables: {
    sso_link: { backup: 'include', placement: { by: 'connection_id' }, export: 'identities.ssoLinks' },
    sso_scim_directory: { backup: 'include', placement: 'every node' },
    sso_scim_user: { backup: 'include', placement: { by: 'connection_id' } },
  },
})
