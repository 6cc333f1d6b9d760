import { openDemoRequest } from '@countersign/protocol/signing/signing'
import { playgroundClientId } from '#clients/registration/built-in-app.ts'
import type { Host } from '#platform/http/http.ts'
import type { Kernel } from '#platform/module/services.ts'
import { siteOf, type Pages } from '#platform/http/page.ts'
import { addressKey } from '#platform/rate-limits/rate-limit.ts'
import { openDemonstration } from './demonstration.ts'
import { playgroundUrl } from './playground.ts'

/** Mounts the playground's page, which needs the app that `ensurePlayground` makes while `DEMO` is on. */
export function playgroundRoutes(host: Host, { config }: Pick<Kernel, 'config'>, pages: Pages): void {
  host.route({
    method: 'GET',
    url: '/playground',
    config: { summary: 'The playground', page: true, security: 'none', cors: 'no origin', host: 'auth' },
    handler: (_request, reply) =>
      pages.show(reply, {
        page: 'playground',
        site: siteOf(config),
        clientId: playgroundClientId,
        redirectUri: playgroundUrl(config),
        issuer: config.authUrl.origin,
      }),
  })
}

/** Mounts the request to sign that needs no app. */
export function demoSigningRoutes(host: Host, kernel: Kernel): void {
  const { clock, rateLimits } = kernel
  host.route({
    ...openDemoRequest,
    async handler(request, reply) {
      await rateLimits.count('demonstration of signing', addressKey(request))
      return reply.status(201).send(await openDemonstration(kernel, request.body, clock()))
    },
  })
}
