import { resetKeys as endpoint } from '@countersign/protocol/signing/key-reset'
import { flowClientOf } from '#accounts/passkeys/ceremony.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import type { Host } from '#platform/http/host.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { resetKeys } from './key-reset.ts'

export type KeyResetServices = { kernel: ServerContext; lifecycle: Lifecycle }

/** Registers the endpoint by which a user starts with new keys after a recovery. */
export function keyResetRoutes(host: Host, services: KeyResetServices): void {
  const { kernel } = services
  const session = sessionGuard(kernel)

  host.route({
    ...endpoint,
    onRequest: session.onRequest,
    handler: (request) => {
      const acting = { session: session.of(request), client: flowClientOf(request, kernel.config.baseUrl) }
      return resetKeys(services, acting, request.body)
    },
  })
}
