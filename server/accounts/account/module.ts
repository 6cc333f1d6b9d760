import { deleteAccount, deleteIdentity, exportAccount } from '@countersign/protocol/accounts/account'
import { type AccountServices, accountRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['account.deleted', 'identity.deleted'] as const
const rateLimits = { 'account-exports-per-user': { points: 6, seconds: 3600 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/account': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/account': keyof typeof rateLimits
  }
}

export const account = defineModule<AccountServices>()({
  name: 'accounts/account',
  endpoints: [exportAccount, deleteIdentity, deleteAccount],
  pages: () => ({
    auth: {
      '/account': 'account',
      '/account/identities': 'account',
      '/account/signing': 'account',
      '/account/security': 'account',
      '/account/passkeys': 'account',
      '/account/sessions': 'account',
      '/account/apps': 'account',
      '/account/activity': 'account',
      '/account/data': 'account',
    },
  }),
  mount: (hosts, services) => accountRoutes(hosts.api, services),
  auditActions,
  rateLimits,
})
