import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/settings'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { settingRoutes } from './routes.ts'

const auditActions = ['settings.updated'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/settings': (typeof auditActions)[number]
  }
}

export const operatorSettings = defineModule<{ kernel: ServerContext; workshop: Workshop }>()({
  name: 'operations/settings',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => settingRoutes(hosts.api, services),
  auditActions,
})
