import type { Host } from '#kernel/http.ts'
import type { Kernel } from '#kernel/kernel.ts'
import type { Pages } from '#kernel/page.ts'
import { playgroundClientId, playgroundUrl } from './playground.ts'

/** Mounts the playground's page, which needs the app that `ensurePlayground` makes while `DEMO` is on. */
export function playgroundRoutes(host: Host, { config }: Pick<Kernel, 'config'>, pages: Pages): void {
  const { baseUrl, authUrl, demo } = config

  host.route({
    method: 'GET',
    url: '/playground',
    config: { summary: 'The playground', page: true, security: 'none', cors: 'no origin', host: 'auth' },
    handler: (_request, reply) =>
      pages.show(reply, {
        page: 'playground',
        site: { baseUrl: baseUrl.origin, authUrl: authUrl.origin, demo },
        clientId: playgroundClientId,
        redirectUri: playgroundUrl(config),
        issuer: authUrl.origin,
      }),
  })
}
