import { defineModule } from '#platform/module/define-module.ts'
import { deleteFormerlySlow, pruneAppSessions, queueLogouts } from './logout.ts'

export const backchannelLogout = defineModule()({
  name: 'accounts/backchannel-logout',
  tables: {
    session_app: {
      backup: 'exclude',
      placement: { by: 'known_session_id' },
      export: { because: 'It notifies apps of the end of a session: the export has the apps.' },
    },
    session_logout: {
      backup: 'exclude',
      placement: 'coordinator',
      export: { because: 'It lasts until the app has got its logout token.' },
    },
    session_logout_receiver: { backup: 'exclude', placement: 'every node' },
  },
  cleanupTasks: { 'app-sessions': pruneAppSessions, 'slow-logout-receivers': deleteFormerlySlow },
  ended: {
    identities: (tx, { identityIds }, now) => queueLogouts(tx, { identityIds }, now),
    access: (tx, { identityIds }, now) => queueLogouts(tx, { identityIds }, now),
    recovered: (tx, { identityIds }, now) => queueLogouts(tx, { identityIds }, now),
  },
})
