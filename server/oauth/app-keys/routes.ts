import * as endpoints from '@countersign/protocol/oauth/app-keys'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { sessionGuard } from '#accounts/sessions/session.ts'
import { resealAppKey } from './app-key.ts'
import { findAppPublicKey, parseAppLookup } from './lookup.ts'

export type AppKeyServices = { kernel: ServerContext; apps: AppDirectory }

/** Registers the lookup of public keys for apps (interface §4.4), and the change of a user's own key. */
export function appKeyRoutes(host: Host, { kernel, apps }: AppKeyServices): void {
  const session = sessionGuard(kernel)

  host.route({
    ...endpoints.findAppPublicKey,
    async handler(request) {
      await kernel.rateLimits.count('app-lookups', clientAddressKey(request))
      return findAppPublicKey({ kernel, apps }, parseAppLookup(request.query))
    },
  })

  host.route({
    ...endpoints.resealAppKey,
    onRequest: session.onRequest,
    async handler(request, reply) {
      const { identityId, encryptionMode: mode, replaces, ciphertext } = request.body
      const change = { identityId, clientId: request.params.clientId, mode, replaces, ciphertext }
      await resealAppKey(kernel.db, session.of(request), change, kernel.clock())
      return reply.status(204).send(null)
    },
  })
}
