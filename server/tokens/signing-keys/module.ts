import { endpointsOf } from '@countersign/protocol/endpoint'
import { algorithms } from '@countersign/protocol/formats/registries/algorithms'
import * as endpoints from '@countersign/protocol/oauth/token-keys'
import type { ServerContext } from '#platform/module/services.ts'
import { pruneKeys, rotateKeysWhenDue } from './rotation.ts'
import { signingKeyRoutes } from './routes.ts'
import type { SigningKeys } from './signing-keys.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['token_signing_key.rotated'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'tokens/signing-keys': (typeof auditActions)[number]
  }
}

export const signingKeys = defineModule<{ kernel: ServerContext; keys: SigningKeys }>()({
  name: 'tokens/signing-keys',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel, keys }) => signingKeyRoutes(hosts.api, kernel, keys),
  metadata: () => ({ id_token_signing_alg_values_supported: [...algorithms] }),
  auditActions,
  tables: { token_signing_key: { backup: 'include', placement: 'every node' } },
  cleanupTasks: { 'token-signing-keys': pruneKeys },
  maintenanceTasks: { 'rotate-token-signing-keys': rotateKeysWhenDue },
})
