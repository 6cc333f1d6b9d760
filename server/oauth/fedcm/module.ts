import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/oauth/fedcm'
import { everyHost } from '#platform/http/host.ts'
import type { Pages } from '#platform/http/page.ts'
import type { TokenEndpoint } from '#oauth/token/endpoint.ts'
import { deleteContinuations, pruneContinuations } from './continuation.ts'
import { fedcmPages, fedcmRoutes, webIdentityRoute } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const rateLimits = {
  'fedcm-accounts-per-session': { points: 120, seconds: 60 },
  'fedcm-logins-per-session': { points: 30, seconds: 60 },
} as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'oauth/fedcm': keyof typeof rateLimits
  }
}

export const fedcm = defineModule<TokenEndpoint & { pages: Pages }>()({
  name: 'oauth/fedcm',
  endpoints: endpointsOf(endpoints),
  mount(hosts, services) {
    const { kernel, pages } = services
    for (const host of everyHost(hosts)) webIdentityRoute(host, kernel)
    fedcmRoutes(hosts.api, services)
    fedcmPages(hosts.api, kernel, pages)
  },
  rateLimits,
  tables: {
    fedcm_continuation: {
      backup: 'exclude',
      placement: { by: 'reference_sha256' },
      export: { because: 'It lasts for minutes.' },
    },
  },
  cleanupTasks: { 'fedcm-continuations': pruneContinuations },
  ended: {
    async sessions(tx, { which, userId }) {
      if (which === 'all') await deleteContinuations(tx, userId)
    },
  },
})
