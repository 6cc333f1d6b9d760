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
    audit_event: { backup: 'include', placement: { by: 'event_id' }, export: 'activity' },
    audit_chain: { backup: 'include', placement: { by: 'sequence' } },
    audit_chain_head: { backup: 'include', placement: 'every node' },
    organization_trail: { backup: 'include', placement: { by: 'organization_id' } },
    organization_act_signature: { backup: 'include', placement: { by: 'organization_id' } },
    organization_trail_head: { backup: 'include', placement: { by: 'organization_id' } },
    // With its event, so that no one sees one of them without the other.
    organization_trail_pending: { backup: 'include', placement: { by: 'event_id' } },
    rate_limit_window: { backup: 'exclude', placement: { by: 'key_sha256' } },
    setting_revision: { backup: 'include', placement: 'every node' },
  },
  maintenanceTasks: { 'extend-organization-trails': ({ db }) => extendTrails(db) },
  background: ({ kernel }) => together(followSettings(kernel), ...(isFirstProcess() ? [startNumbering(kernel)] : [])),
  cleanupTasks: { 'rate-limits': pruneRateLimits, 'audit-log': deleteOldEvents },
})

/** Makes one of several works in the background. */
function together(...works: Background[]): Background {
  return { stop: async () => void (await Promise.all(works.map((work) => work.stop()))) }
}
