import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/settings'
import { defineModule } from '#platform/module/define-module.ts'
import { settingRoutes } from './routes.ts'

const auditActions = ['settings.updated'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/settings': (typeof auditActions)[number]
  }
}

export const operatorSettings = defineModule()({
  name: 'operations/settings',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => settingRoutes(hosts.api, kernel),
  auditActions,
})
