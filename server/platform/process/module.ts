import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations'
import { startNumbering } from '#platform/audit/chain.ts'
import { extendTrails } from '#platform/audit/trail.ts'
import { type Background, defineModule } from '#platform/module/define-module.ts'
import { followSettings } from '#platform/settings/current-settings.ts'
import { deleteOldEvents } from '#platform/settings/retention.ts'
import { pruneRateLimits } from '#platform/rate-limits/rate-limit.ts'
import { isFirstProcess } from './workers.ts'

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
    audit_chain: 'include',
    audit_chain_head: 'include',
    organization_trail: 'include',
    organization_act_signature: 'include',
    organization_trail_head: 'include',
    organization_trail_pending: 'include',
    rate_limit_window: 'exclude',
    setting_revision: 'include',
  },
  maintenanceTasks: { 'extend-organization-trails': ({ db }) => extendTrails(db) },
  background: ({ kernel }) => together(followSettings(kernel), ...(isFirstProcess() ? [startNumbering(kernel)] : [])),
  cleanupTasks: { 'rate-limits': pruneRateLimits, 'audit-log': deleteOldEvents },
})

/** Makes one of several works in the background. */
function together(...works: Background[]): Background {
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) }
}
