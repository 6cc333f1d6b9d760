import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/organizations/acts'
import { defineModule } from '#platform/module/define-module.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { deleteActs, pruneActs } from './act.ts'
import type { Performers } from './performance.ts'
import { actRoutes } from './routes.ts'

export const acts = defineModule<{ kernel: ServerContext; performers: Performers }>()({
  name: 'organizations/acts',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel, performers }) => actRoutes(hosts.business, kernel, performers),
  tables: { organization_act: 'exclude' },
  cleanupTasks: { 'organization-acts': pruneActs },
  ended: { identities: (tx, { identityIds }) => deleteActs(tx, identityIds) },
})
