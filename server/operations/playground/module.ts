import { createDemoSigningRequest } from '@countersign/protocol/signing/signing'
import type { Pages } from '#platform/http/page.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { ensurePlayground } from './playground.ts'
import { demoSigningRoutes, playgroundRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const rateLimits = { 'demo-signing-requests': { points: 20, seconds: 60 } } as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/playground': keyof typeof rateLimits
  }
}

export const playground = defineModule<{ kernel: ServerContext; pages: Pages }>()({
  name: 'operations/playground',
  endpoints: [createDemoSigningRequest],
  initialize: ensurePlayground,
  mount(hosts, { kernel, pages }) {
    if (!kernel.config.demo) return
    demoSigningRoutes(hosts.api, kernel)
    playgroundRoutes(hosts.auth, kernel, pages)
  },
  rateLimits,
})
