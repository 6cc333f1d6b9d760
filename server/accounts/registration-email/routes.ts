import * as endpoints from '@countersign/protocol/accounts/registration/email'
import { ApiError } from '#platform/api-error.ts'
import type { Host } from '#platform/http/host.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { negotiateLanguage } from '#platform/outbound/mail.ts'
import { clientAddressKey } from '#platform/rate-limits/rate-limit.ts'
import { exchangeCode, mailCode } from './proof.ts'

/** Registers how an address is proved before a registration. */
export function registrationEmailRoutes(host: Host, kernel: ServerContext): void {
  const { clock, rateLimits } = kernel

  host.route({
    ...endpoints.startRegistrationEmail,
    async handler(request) {
      const network = clientAddressKey(request)
      await rateLimits.count('registration-codes-per-ip', network)
      const requested = { ...request.body, network, language: negotiateLanguage(request) }
      const { expiresAt, ...sent } = await mailCode(kernel, requested, clock())
      return { ...sent, expiresAt: expiresAt.toISOString() }
    },
  })

  host.route({
    ...endpoints.verifyRegistrationEmail,
    async handler(request) {
      const key = clientAddressKey(request)
      await rateLimits.check('registration-code-failures-per-ip', key)
      try {
        const { expiresAt, ...proved } = await exchangeCode(kernel, request.body, clock())
        return { ...proved, expiresAt: expiresAt.toISOString() }
      } catch (error) {
        if (error instanceof ApiError) await rateLimits.count('registration-code-failures-per-ip', key)
        throw error
      }
    },
  })
}
