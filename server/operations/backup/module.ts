import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/backup'
import type { BackupServices } from './restore.ts'
import { backupRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['backup.created', 'backup.completed', 'backup.restored'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/backup': (typeof auditActions)[number]
  }
}

export const backup = defineModule<BackupServices>()({
  name: 'operations/backup',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, services) => backupRoutes(hosts.api, services),
  auditActions,
})
