import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/signing/key-reset'
import { defineModule } from '#platform/module/define-module.ts'
import { keyResetRoutes, type KeyResetServices } from './routes.ts'

const auditActions = ['account.keys.reset'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'signing/key-reset': (typeof auditActions)[number]
  }
}

export const keyReset = defineModule<KeyResetServices>()({
  name: 'signing/key-reset',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => keyResetRoutes(hosts.api, services),
  auditActions,
})
