import { forgetNamedIdentities } from './ending.ts'
import { listSessions, pruneSessions } from './session.ts'
import { pruneSsoRecords } from './sso-session.ts'
import { defineModule } from '#platform/module/define-module.ts'

const rateLimits = { 'changes-per-user': { points: 1200, seconds: 3600 } } as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/sessions': keyof typeof rateLimits
  }
}

export const sessions = defineModule()({
  name: 'accounts/sessions',
  rateLimits,
  tables: {
    session: 'exclude',
    session_sso_authentication: 'exclude',
    session_sso_bypass: 'exclude',
  },
  cleanupTasks: {
    sessions: pruneSessions,
    'session-records': pruneSsoRecords,
  },
  ended: {
    sessions: (tx, { identityIds }) => forgetNamedIdentities(tx, identityIds),
  },
  exported: { account: { sessions: listSessions } },
})
