import * as endpoints from '@countersign/protocol/operations/configuration'
import { endpointsOf } from '@countersign/protocol/endpoint'
import { defineModule } from '#platform/module/define-module.ts'
import type { Services } from './apply.ts'
import { deletePruned } from './pruned.ts'
import { configurationRoutes } from './routes.ts'

const auditActions = ['configuration.applied'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/configuration': (typeof auditActions)[number]
  }
}

export const configuration = defineModule<Services>()({
  name: 'operations/configuration',
  endpoints: endpointsOf(endpoints),
  mount: configurationRoutes,
  auditActions,
  tables: { configuration_object: 'include' },
  cleanupTasks: { 'pruned-objects': deletePruned },
})
