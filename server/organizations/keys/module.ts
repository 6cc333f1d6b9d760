import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/keys'
import type { ServerContext } from '#platform/module/services.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { reencryptOrganizationKeys } from './custody.ts'
import { acts, keyRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'organization.key.created',
  'organization.key.shared',
  'organization.key.given_up',
  'organization.key.retrieved',
  'organization.key.deleted',
  'organization.kms.updated',
  'organization.kms.removed',
] as const
const rateLimits = {
  'organization-keys-per-organization': { points: 30, seconds: 3600 },
  'organization-key-reads-per-member': { points: 120, seconds: 3600 },
  'kms-changes-per-organization': { points: 30, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'organizations/keys': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'organizations/keys': keyof typeof rateLimits
  }
}

export const organizationKeys = defineModule<{ kernel: ServerContext; keys: SigningKeys }>()({
  name: 'organizations/keys',
  endpoints: endpointsOf(endpoints),
  pages: () => ({ auth: { '/organization-keys': 'organization-keys' } }),
  acts,
  mount: (hosts, { kernel, keys }) => keyRoutes(hosts.business, { kernel, keys }),
  auditActions,
  rateLimits,
  tables: {
    organization_key: { backup: 'include', placement: 'every node' },
    organization_key_wrap: { backup: 'include', placement: 'every node' },
    organization_kms: { backup: 'include', placement: 'every node' },
  },
  maintenanceTasks: { 'reencrypt-organization-keys': reencryptOrganizationKeys },
})
