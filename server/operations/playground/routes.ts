import * as endpoints from '@countersign/protocol/signing/signing'
import { playgroundClientId, playgroundNotesClientId } from '#clients/registration/built-in-app.ts'
import { getDemoCalendar } from '@countersign/protocol/operations/playground'
import { bearerToken } from '#platform/http/host.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { type Pages, siteSettings } from '#platform/http/page.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import type { SigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { createDemoSigningRequest, demoCalendar, playgroundUrl, readDemoCalendar } from './playground.ts'

/** Registers the playground's page, which needs the apps that `ensurePlayground` creates while `DEMO` is on. */
export function playgroundRoutes(host: Host, { config }: Pick<ServerContext, 'config'>, pages: Pages): void {
  host.route({
    method: 'GET',
    url: '/playground',
    config: { summary: 'The playground', page: true, security: 'none', cors: 'no origin', host: 'auth' },
    handler: (_request, reply) =>
      pages.show(reply, {
        page: 'playground',
        site: siteSettings(config),
        clientId: playgroundClientId,
        redirectUri: playgroundUrl(config),
        issuer: config.authUrl.origin,
        calendar: demoCalendar,
        notes: { clientId: playgroundNotesClientId },
      }),
  })
}

/** Registers the demonstration calendar, which stands for the API of another app. */
export function demoCalendarRoutes(host: Host, services: { kernel: ServerContext; keys: SigningKeys }): void {
  host.route({
    ...getDemoCalendar,
    handler: (request) => readDemoCalendar(services, bearerToken(request), services.kernel.clock()),
  })
}

/** Registers the signing request route that needs no app. */
export function demoSigningRoutes(host: Host, kernel: ServerContext): void {
  const { clock, rateLimits } = kernel
  host.route({
    ...endpoints.createDemoSigningRequest,
    async handler(request, reply) {
      await rateLimits.count('demo-signing-requests', clientAddressKey(request))
      return reply.status(201).send(await createDemoSigningRequest(kernel, request.body, clock()))
    },
  })
}
