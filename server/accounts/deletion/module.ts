import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/accounts/deletion'
import { defineModule } from '#platform/module/define-module.ts'
import { startDeleting } from './due.ts'
import { deletionRoutes, type DeletionServices } from './routes.ts'

const auditActions = ['identity.deletion_scheduled', 'identity.deletion_refused', 'identity.restored'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'accounts/deletion': (typeof auditActions)[number]
  }
}

export const deletion = defineModule<DeletionServices>()({
  name: 'accounts/deletion',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => deletionRoutes(hosts.api, services),
  background: startDeleting,
  auditActions,
})
