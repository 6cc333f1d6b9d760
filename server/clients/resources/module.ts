import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/clients/resources'
import { getApp } from '@countersign/protocol/clients/apps'
import { createOwnResource, listOwnResources, updateOwnResource } from '@countersign/protocol/clients/developer'
import { holdResources } from './resource.ts'
import { resourceRoutes, type Services } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

const auditActions = ['resource.created', 'resource.updated'] as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'clients/resources': (typeof auditActions)[number]
  }
}

export const resources = defineModule<Services>()({
  name: 'clients/resources',
  endpoints: [...endpointsOf(endpoints), createOwnResource, listOwnResources, updateOwnResource, getApp],
  mount: (hosts, services) => resourceRoutes(hosts.api, services),
  auditActions,
  // A user must not make a name available again that the operator has disabled.
  ended: { ownedApps: (tx, { clientIds }) => holdResources(tx, clientIds) },
  tables: {
    app_resource: { backup: 'include', placement: 'every node' },
    app_held_resource: { backup: 'include', placement: 'every node' },
  },
})
