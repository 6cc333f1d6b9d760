import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/scim-tokens'
import { defineModule } from '#platform/module/define-module.ts'
import { releaseDeleted } from './release.ts'
import { scimRoutes } from './routes.ts'
import { scimTokenRoutes } from './token-routes.ts'
import { voidTokensOf } from './token-store.ts'
import type { ScimServices } from './users/provisioning.ts'
import { exportUser } from './users/export.ts'
import { deleteUsers } from './users/user-store.ts'

const auditActions = ['scim_token.created', 'scim_token.rotated', 'scim_token.deleted'] as const
const rateLimits = {
  'scim-requests-per-token': { points: 3000, seconds: 60 },
  'scim-token-failures': { points: 30, seconds: 60 },
  'scim-username-changes-per-token': { points: 3000, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/scim': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/scim': keyof typeof rateLimits
  }
}

export const scim = defineModule<ScimServices>()({
  name: 'accounts/scim',
  endpoints: endpointsOf(endpoints),
  mount(hosts, services) {
    scimTokenRoutes(hosts.api, services.kernel)
    scimRoutes(hosts.api, services)
  },
  auditActions,
  rateLimits,
  tables: {
    scim_token: { backup: 'include', placement: 'every node' },
    scim_user: { backup: 'include', placement: 'every node', export: 'identities.directory' },
    scim_group: { backup: 'include', placement: 'every node' },
  },
  cleanupTasks: { 'deleted-scim-tokens': releaseDeleted },
  exported: { identity: { directory: exportUser } },
  ended: {
    async identities(tx, { identityIds }) {
      await deleteUsers(tx, identityIds)
      await voidTokensOf(tx, identityIds)
    },
    invited: (tx, { identityIds }) => deleteUsers(tx, identityIds),
    access: (tx, { identityIds }) => voidTokensOf(tx, identityIds),
    recovered: (tx, { identityIds }) => voidTokensOf(tx, identityIds),
  },
})
