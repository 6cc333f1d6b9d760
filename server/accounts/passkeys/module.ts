import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/passkeys'
import { createBusinessToken, findSession, getSession, listSessions } from '@countersign/protocol/accounts/sessions'
import { deleteFlows, pruneFlows } from './ceremony.ts'
import { deletePasskeys, listPasskeys } from './passkey.ts'
import { passkeyDiscovery, passkeyRoutes, type PasskeyServices } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'account.created',
  'account.recovered',
  'session.created',
  'session.reauthenticated',
  'passkey.added',
  'passkey.renamed',
  'passkey.removed',
  'passkey.sign_count_regressed',
] as const
const rateLimits = {
  'register-start': { points: 10, seconds: 60 },
  'handle-lookups-per-ip': { points: 60, seconds: 60 },
  'login-start': { points: 60, seconds: 60 },
  'login-failures-per-ip': { points: 20, seconds: 60 },
  'passkey-lookups-per-ip': { points: 60, seconds: 60 },
  'recovery-failures-per-ip': { points: 20, seconds: 3600 },
  'reauthentications-per-user': { points: 60, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/passkeys': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/passkeys': keyof typeof rateLimits
  }
}

export const passkeys = defineModule<PasskeyServices>()({
  name: 'accounts/passkeys',
  endpoints: [...endpointsOf(endpoints), getSession, findSession, createBusinessToken, listSessions],
  mount(hosts, services) {
    passkeyRoutes(hosts.api, services)
    passkeyDiscovery(hosts.auth, services.kernel.config)
  },
  auditActions,
  rateLimits,
  tables: {
    passkey_credential: { backup: 'include', placement: { by: 'credential_id' }, export: 'passkeys' },
    passkey_flow: { backup: 'exclude', placement: { by: 'flow_id' }, export: { because: 'It lasts for minutes.' } },
  },
  cleanupTasks: { flows: pruneFlows },
  // A concurrent sign-in holds the lock of its passkey until its session is visible.
  ended: {
    account: (tx, { userId }) => deletePasskeys(tx, userId),
    async access(tx, { which, userId }) {
      if (which === 'all') await deleteFlows(tx, userId)
    },
    recovered: (tx, { userId }) => deleteFlows(tx, userId),
  },
  exported: { account: { passkeys: (db, { userId }) => listPasskeys(db, userId) } },
})
