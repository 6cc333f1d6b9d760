import { authorize } from '@countersign/protocol/oauth/authorize'
import { languageTags } from '@countersign/protocol/formats/registries/languages'
import { pushRequest } from '@countersign/protocol/oauth/pushed-requests'
import { responseModes } from './parameters.ts'
import { prunePushedRequests } from './pushed-request.ts'
import { authorizationRoutes, type AuthorizationServices, entryRoutes, pageRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['app.authorized', 'app.signed_in'] as const
const rateLimits = {
  'par-requests-public-client': { points: 60, seconds: 60 },
  'par-requests-per-client': { points: 600, seconds: 60 },
  'reauthentication-requests-per-ip': { points: 600, seconds: 60 },
  'unregistered-client-consents-per-user': { points: 60, seconds: 3600 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'oauth/authorize': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'oauth/authorize': keyof typeof rateLimits
  }
}

export const authorization = defineModule<AuthorizationServices>()({
  name: 'oauth/authorize',
  endpoints: [authorize, pushRequest],
  mount(hosts, services) {
    authorizationRoutes(hosts.api, services)
    pageRoutes(hosts.auth, services)
    entryRoutes(hosts.auth, services)
  },
  metadata: ({ authUrl, baseUrl }) => ({
    authorization_endpoint: `${authUrl.origin}/signin`,
    pushed_authorization_request_endpoint: `${baseUrl.origin}/api/oauth/par`,
    require_pushed_authorization_requests: false,
    response_types_supported: ['code'],
    response_modes_supported: [...responseModes],
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
    acr_values_supported: ['phr'],
    code_challenge_methods_supported: ['S256'],
    ui_locales_supported: [...languageTags],
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  }),
  auditActions,
  rateLimits,
  tables: { oauth_pushed_request: { backup: 'exclude', placement: 'coordinator' } },
  cleanupTasks: { 'pushed-requests': prunePushedRequests },
})
