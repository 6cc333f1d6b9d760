import { createDemoSigningRequest } from '@countersign/protocol/signing/signing'
import { getDemoCalendar } from '@countersign/protocol/operations/playground'
import type { Pages } from '#platform/http/page.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { ensurePlayground } from './playground.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { demoCalendarRoutes, demoSigningRoutes, playgroundRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const rateLimits = { 'demo-signing-requests': { points: 20, seconds: 60 } } as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/playground': keyof typeof rateLimits
  }
}

export const playground = defineModule<{ kernel: ServerContext; pages: Pages; keys: SigningKeys }>()({
  name: 'operations/playground',
  endpoints: [createDemoSigningRequest, getDemoCalendar],
  initialize: ensurePlayground,
  mount(hosts, { kernel, pages, keys }) {
    if (!kernel.config.demo) return
    demoSigningRoutes(hosts.api, kernel)
    demoCalendarRoutes(hosts.api, { kernel, keys })
    playgroundRoutes(hosts.auth, kernel, pages)
  },
  rateLimits,
})
