import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/health'
import { defineModule } from '#platform/module/define-module.ts'
import { healthRoutes } from './routes.ts'

export const health = defineModule()({
  name: 'operations/health',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => healthRoutes(hosts.api, kernel),
})
