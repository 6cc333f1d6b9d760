import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/registration/email'
import { defineModule } from '#platform/module/define-module.ts'
import { pruneProofs } from './proof.ts'
import { registrationEmailRoutes } from './routes.ts'

const rateLimits = {
  'registration-codes-per-ip': { points: 30, seconds: 3600 },
  'registration-codes-per-address-and-network': { points: 5, seconds: 24 * 3600 },
  'registration-codes-per-address': { points: 30, seconds: 24 * 3600 },
  'registration-code-failures-per-ip': { points: 60, seconds: 3600 },
} as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'accounts/registration-email': keyof typeof rateLimits
  }
}

export const registrationEmail = defineModule()({
  name: 'accounts/registration-email',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => registrationEmailRoutes(hosts.api, kernel),
  rateLimits,
  tables: { registration_email: { backup: 'exclude', placement: 'coordinator' } },
  cleanupTasks: { 'registration-emails': pruneProofs },
})
