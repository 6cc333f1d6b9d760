import { deleteTokens, pruneTokens, revokeTokens } from './family.ts'
import { endSessions } from './session.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = [
  'session.too_many',
  'session.revoked',
  'token_family.reuse_detected',
  'token_family.revoked',
] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'tokens/families': (typeof auditActions)[number]
  }
}

export const tokenFamilies = defineModule()({
  name: 'tokens/families',
  auditActions,
  tables: {
    token_family: { backup: 'exclude', placement: { by: 'identity_id' }, export: 'identities.grants' },
    token_access_token: {
      backup: 'exclude',
      placement: { by: 'identity_id' },
      export: { because: 'It is the hash of a secret, of a grant that the export has.' },
    },
  },
  cleanupTasks: { tokens: pruneTokens },
  ended: {
    identities: (tx, { identityIds }) => deleteTokens(tx, identityIds),
    access: (tx, { identityIds }, now) => revokeTokens(tx, identityIds, now),
    recovered: (tx, { identityIds }, now) => revokeTokens(tx, identityIds, now),
    async sessions(tx, ending, now) {
      await endSessions(tx, ending, now)
    },
  },
})
