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
    session: { backup: 'exclude', placement: { by: 'session_id' }, export: 'sessions' },
    session_sso_authentication: {
      backup: 'exclude',
      placement: { by: 'session_id' },
      export: { because: 'It lasts as long as its session, and the activity has the sign-in.' },
    },
    session_sso_bypass: { backup: 'exclude', placement: { by: 'session_id' } },
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
