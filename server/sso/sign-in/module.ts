import {
  confirmSso,
  discoverSso,
  getPendingSsoLogin,
  linkSsoAccount,
  startSso,
  testSsoConnection,
} from '@countersign/protocol/organizations/sso'
import type { Pages } from '#platform/http/page.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deleteSsoLinks, exportSsoLinks, pruneLinks } from './complete-login.ts'
import { pruneAssertions, pruneFlows } from './flow.ts'
import { ssoRoutes, ssoTestRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['sso.account.linked', 'sso.login.succeeded', 'sso.login.failed'] as const
const rateLimits = {
  'sso-starts': { points: 30, seconds: 60 },
  // A response is parsed before its organization is known, which takes up to ten milliseconds.
  'saml-responses': { points: 60, seconds: 60 },
  // Each signed part takes up to fifty milliseconds, and any user can have an organization with an identity provider.
  'signed-saml-responses-per-organization': { points: 600, seconds: 60 },
  'sso-discoveries': { points: 30, seconds: 60 },
  'recorded-sso-failures-per-connection': { points: 20, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'sso/sign-in': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'sso/sign-in': keyof typeof rateLimits
  }
}

export const ssoSignIn = defineModule<{ kernel: ServerContext; pages: Pages }>()({
  name: 'sso/sign-in',
  endpoints: [discoverSso, startSso, getPendingSsoLogin, confirmSso, linkSsoAccount, testSsoConnection],
  pages: () => ({ auth: { '/sso': 'sso', '/sso/link': 'sso', '/sso/confirm': 'sso' } }),
  mount(hosts, { kernel, pages }) {
    ssoRoutes(hosts.api, kernel, pages)
    ssoTestRoutes(hosts.business, kernel)
  },
  auditActions,
  rateLimits,
  tables: {
    sso_login: { backup: 'exclude', placement: 'coordinator' },
    sso_used_assertion: { backup: 'exclude', placement: { by: 'connection_id' } },
  },
  cleanupTasks: { 'sso-logins': pruneFlows, 'used-assertions': pruneAssertions, 'sso-links': pruneLinks },
  ended: { identities: (tx, { identityIds }) => deleteSsoLinks(tx, identityIds) },
  exported: { identity: { ssoLinks: exportSsoLinks } },
})
