import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations'
import { extendTrails } from '#platform/audit/trail.ts'
import { defineModule } from '#platform/module/define-module.ts'
import { followSettings } from '#platform/settings/current-settings.ts'
import { pruneRateLimits } from '#platform/rate-limits/rate-limit.ts'

const rateLimits = { 'client-authentication-failures-per-ip': { points: 30, seconds: 60 } } as const

declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    platform: keyof typeof rateLimits
  }
}

/** What belongs to no capability. The process mounts these endpoints itself, on every host. */
export const platform = defineModule()({
  name: 'platform',
  endpoints: endpointsOf(endpoints),
  rateLimits,
  tables: {
    audit_event: 'include',
    organization_trail: 'include',
    organization_act_signature: 'include',
    organization_trail_head: 'include',
    organization_trail_pending: 'include',
    rate_limit_window: 'exclude',
    setting_revision: 'include',
  },
  maintenanceTasks: { 'extend-organization-trails': ({ db }) => extendTrails(db) },
  background: ({ kernel }) => followSettings(kernel),
  cleanupTasks: { 'rate-limits': pruneRateLimits },
})
