import {
  revokeOtherSessions,
  revokeSession,
  signOut,
  signOutByIdTokenHint,
} from '@countersign/protocol/accounts/sessions'
import { startLogoutSender } from './sender.ts'
import { logoutPage, type LogoutServices, signOutRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['session.others_revoked'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/logout': (typeof auditActions)[number]
  }
}

export const logout = defineModule<LogoutServices>()({
  name: 'oauth/logout',
  endpoints: [signOut, signOutByIdTokenHint, revokeSession, revokeOtherSessions],
  mount(hosts, services) {
    signOutRoutes(hosts.api, services.kernel, services.keys)
    logoutPage(hosts.auth, services)
  },
  metadata: ({ authUrl }) => ({
    end_session_endpoint: `${authUrl.origin}/logout`,
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  }),
  auditActions,
  background: startLogoutSender,
})
