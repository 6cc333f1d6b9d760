import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/signing/transparency'
import { initializeLog, publishCheckpoint, reencryptLogKey } from './log.ts'
import { transparencyRoutes } from './routes.ts'
import { defineModule } from '#platform/module/define-module.ts'

export const transparency = defineModule()({
  name: 'signing/transparency',
  endpoints: endpointsOf(endpoints),
  initialize: (kernel) => initializeLog(kernel, kernel.clock()),
  mount: (hosts, { kernel }) => transparencyRoutes(hosts.api, kernel),
  tables: {
    transparency_log: { backup: 'include', placement: 'coordinator' },
    transparency_leaf: { backup: 'include', placement: 'coordinator' },
    transparency_node: { backup: 'include', placement: 'coordinator' },
  },
  maintenanceTasks: { 'integrate-log-leaves': publishCheckpoint, 'reencrypt-log-key': reencryptLogKey },
})
