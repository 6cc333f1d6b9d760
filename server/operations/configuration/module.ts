import * as endpoints from '@countersign/protocol/operations/configuration'
import { endpointsOf } from '@countersign/protocol/endpoint'
import { defineModule } from '#platform/module/define-module.ts'
import type { Services } from './apply.ts'
import { deletePruned } from './pruned.ts'
import { configurationRoutes } from './routes.ts'

const auditActions = ['configuration.applied'] as const
const rateLimits = {
  'configuration-plans-per-operator': { points: 600, seconds: 3600 },
  'configuration-invitations-per-operator': { points: 30, seconds: 3600 },
  'configuration-exports-per-operator': { points: 10, seconds: 60 },
} as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/configuration': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/configuration': keyof typeof rateLimits
  }
}

export const configuration = defineModule<Services>()({
  name: 'operations/configuration',
  endpoints: endpointsOf(endpoints),
  mount: configurationRoutes,
  auditActions,
  rateLimits,
  tables: { configuration_object: { backup: 'include', placement: 'every node' } },
  cleanupTasks: { 'pruned-objects': deletePruned },
})
