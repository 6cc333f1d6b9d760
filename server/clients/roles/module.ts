import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/clients/roles'
import type { AppDirectory } from '#clients/registration/directory.ts'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deleteRolesOf, exportRolesOf } from './role.ts'
import { roleRoutes } from './routes.ts'

const auditActions = ['app.role.assigned', 'app.role.removed'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'clients/roles': (typeof auditActions)[number]
  }
}

export const roles = defineModule<{ kernel: ServerContext; apps: AppDirectory }>()({
  name: 'clients/roles',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel, apps }) => roleRoutes(hosts.api, kernel, apps),
  auditActions,
  tables: {
    app_role: { backup: 'include', placement: 'every node' },
    app_role_group: { backup: 'include', placement: 'every node' },
    app_role_identity: { backup: 'include', placement: { by: 'identity_id' }, export: 'identities.appRoles' },
  },
  ended: { identities: (tx, { identityIds }) => deleteRolesOf(tx, identityIds) },
  exported: { identity: { appRoles: exportRolesOf } },
})
