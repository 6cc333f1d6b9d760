import {
  confirmSsoConnection,
  createSsoConnection,
  createSsoEncryptionKey,
  deleteSsoConnection,
  deleteSsoEncryptionKey,
  getSsoConnection,
  listSsoConnections,
  updateSsoConnection,
} from '@countersign/protocol/organizations/sso'
import { continueConnectionEndings } from './ending.ts'
import { pruneEncryptionKeys, reencryptEncryptionKeys } from './encryption-key.ts'
import { acts, ssoConnectionRoutes } from './routes.ts'
import { reencryptClientSecrets } from './settings.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'sso.connection.created',
  'sso.connection.updated',
  'sso.connection.confirmed',
  'sso.connection.deleted',
  'sso.connection.tested',
  'sso.encryption_key.created',
  'sso.encryption_key.removed',
] as const
const rateLimits = { 'sso-connection-changes-per-organization': { points: 30, seconds: 3600 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'sso/connections': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'sso/connections': keyof typeof rateLimits
  }
}

export const connections = defineModule()({
  name: 'sso/connections',
  endpoints: [
    listSsoConnections,
    createSsoConnection,
    getSsoConnection,
    updateSsoConnection,
    deleteSsoConnection,
    confirmSsoConnection,
    createSsoEncryptionKey,
    deleteSsoEncryptionKey,
  ],
  acts,
  mount: (hosts, { kernel }) => ssoConnectionRoutes(hosts.business, kernel),
  auditActions,
  rateLimits,
  tables: {
    sso_connection: { backup: 'include', placement: 'every node' },
    // A backup has no sessions.
    sso_connection_ending: { backup: 'exclude', placement: 'every node' },
    sso_encryption_key: { backup: 'include', placement: 'every node' },
    sso_group_rule: { backup: 'include', placement: 'every node' },
  },
  cleanupTasks: {
    'saml-encryption-keys': pruneEncryptionKeys,
    'sso-connection-endings': continueConnectionEndings,
  },
  maintenanceTasks: {
    'reencrypt-client-secrets': reencryptClientSecrets,
    'reencrypt-saml-encryption-keys': reencryptEncryptionKeys,
  },
})
