import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/keys'
import * as deviceApprovals from '@countersign/protocol/accounts/device-approvals'
import { deleteDeviceApprovals, pruneDeviceApprovals } from './device-approval.ts'
import { deleteEncryptionKeys, getIdentityEncryptionKey } from './encryption-key.ts'
import { deleteFormerOfIdentities, deleteFormerOfUser } from './former-key-store.ts'
import { listFormer, pruneFormer } from './former-key.ts'
import { deleteUserKeys, listKeyWraps } from './key-wrap.ts'
import { recoveryCodeCreatedAt } from './recovery-code.ts'
import { encryptionRoutes } from './routes.ts'
import { findSelfRecord } from './self-record.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'account.key_wraps.replaced',
  'account.key_wrap.added',
  'account.device_approval.requested',
  'account.device_approval.approved',
  'account.recovery_code.created',
  'account.recovery_code.replaced',
  'encryption_key.created',
] as const
const rateLimits = {
  'public-encryption-key-reads': { points: 300, seconds: 60 },
  'device-approvals-per-user': { points: 20, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/keys': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/keys': keyof typeof rateLimits
  }
}

export const keys = defineModule()({
  name: 'accounts/keys',
  endpoints: [...endpointsOf(endpoints), ...endpointsOf(deviceApprovals)],
  mount: (hosts, { kernel }) => encryptionRoutes(hosts.api, kernel),
  auditActions,
  rateLimits,
  tables: {
    encryption_key_wrap: { backup: 'include', placement: { by: 'user_id' }, export: 'keyWraps' },
    encryption_recovery_code: { backup: 'include', placement: { by: 'user_id' }, export: 'recoveryCodeSince' },
    encryption_identity_key: {
      backup: 'include',
      placement: { by: 'identity_id' },
      export: 'identities.encryptionKey',
    },
    encryption_device_approval: {
      backup: 'exclude',
      placement: { by: 'user_id' },
      export: { because: 'It lasts for minutes.' },
    },
    encryption_self_record: { backup: 'include', placement: { by: 'user_id' }, export: 'selfRecord' },
    encryption_former_ciphertext: { backup: 'include', placement: { by: 'user_id' }, export: 'formerCiphertexts' },
    encryption_key_reset: { backup: 'include', placement: { by: 'user_id' }, export: 'activity' },
  },
  cleanupTasks: { 'device-approvals': pruneDeviceApprovals, 'former-ciphertexts': pruneFormer },
  ended: {
    async identities(tx, { userId, identityIds }) {
      await deleteEncryptionKeys(tx, identityIds)
      await deleteFormerOfIdentities(tx, userId, identityIds)
    },
    async account(tx, { userId }) {
      await deleteUserKeys(tx, userId)
      await deleteFormerOfUser(tx, userId)
    },
    async access(tx, { which, userId }) {
      if (which === 'all') await deleteDeviceApprovals(tx, userId)
    },
    recovered: (tx, { userId }) => deleteDeviceApprovals(tx, userId),
  },
  exported: {
    account: {
      keyWraps: (db, { userId }) => listKeyWraps(db, userId),
      recoveryCodeSince: async (db, { userId }) => (await recoveryCodeCreatedAt(db, userId))?.toISOString() ?? null,
      selfRecord: (db, { userId }) => findSelfRecord(db, userId),
      formerCiphertexts: (db, { userId }, now) => listFormer(db, userId, now),
    },
    identity: { encryptionKey: getIdentityEncryptionKey },
  },
})
