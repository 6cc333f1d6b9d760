import { previewAppClaims } from '@countersign/protocol/clients/claims'
import { introspect, requestToken, revoke, userinfo, userinfoByPost } from '@countersign/protocol/oauth/authorize'
import { defineModule } from '#platform/module/define-module.ts'
import { tokenMetadata } from './metadata.ts'
import type { TokenEndpoint } from './endpoint.ts'
import { tokenRoutes } from './routes.ts'

const auditActions = ['app.access.ended', 'app.claims.previewed'] as const
const rateLimits = { 'grant-failures-per-client': { points: 60, seconds: 60 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/token': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'oauth/token': keyof typeof rateLimits
  }
}

export const token = defineModule<TokenEndpoint>()({
  name: 'oauth/token',
  endpoints: [requestToken, revoke, introspect, userinfo, userinfoByPost, previewAppClaims],
  mount: (hosts, services) => tokenRoutes(hosts.api, services),
  auditActions,
  metadata: tokenMetadata,
  rateLimits,
})
