import * as endpoints from '@countersign/protocol/oauth/app-keys'
import { endpointsOf } from '@countersign/protocol/endpoint'
import { deleteAppKeys } from './app-key.ts'
import { takeAppKeys } from './former-app-key.ts'
import { appKeyRoutes, type AppKeyServices } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['app_key.created', 'app_key.replaced', 'app_key.resealed'] as const
const rateLimits = {
  'app-lookups': { points: 60, seconds: 60 },
  'app-lookups-per-app': { points: 600, seconds: 60 },
  'new-app-keys-per-user': { points: 60, seconds: 24 * 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/app-keys': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'oauth/app-keys': keyof typeof rateLimits
  }
}

export const appKeys = defineModule<AppKeyServices>()({
  name: 'oauth/app-keys',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => appKeyRoutes(hosts.api, services),
  auditActions,
  rateLimits,
  tables: {
    authorization_app_key: { backup: 'include', placement: { by: 'identity_id' }, export: 'authorizations' },
    authorization_app_public_key: { backup: 'include', placement: { by: 'client_id' }, export: 'authorizations' },
  },
  ended: {
    async identities(tx, { identityIds }) {
      for (const identityId of identityIds) await deleteAppKeys(tx, identityId)
    },
    keys: (tx, losing, now) => takeAppKeys(tx, losing, now),
  },
})
