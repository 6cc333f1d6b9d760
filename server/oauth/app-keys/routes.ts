import * as endpoints from '@countersign/protocol/oauth/app-keys'
import type { AppDirectory } from '#clients/registration/directory.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { findAppPublicKey, parseAppLookup } from './lookup.ts'

export type AppKeyServices = { kernel: ServerContext; apps: AppDirectory }

/** Registers the lookup of public keys for apps (interface §4.4). */
export function appKeyRoutes(host: Host, { kernel, apps }: AppKeyServices): void {
  host.route({
    ...endpoints.findAppPublicKey,
    async handler(request) {
      await kernel.rateLimits.count('app-lookups', clientAddressKey(request))
      return findAppPublicKey({ kernel, apps }, parseAppLookup(request.query))
    },
  })
}
