import { endpointsOf } from '@countersign/protocol/endpoint'
import * as endpoints from '@countersign/protocol/operations/sinks'
import { defineModule } from '#platform/module/define-module.ts'
import { sinkRoutes } from './routes.ts'
import { pruneSinkSecrets, reencryptSinks } from './secrets.ts'
import { startSinkSender } from './sender.ts'

const auditActions = [
  'sink.created',
  'sink.change_announced',
  'sink.updated',
  'sink.replayed',
  'sink.secret_rotated',
  'sink.deleted',
  'sink.tested',
] as const
const rateLimits = { 'sink-changes-per-operator': { points: 30, seconds: 3600 } } as const

declare module '#platform/audit/audit-log.ts' {
  interface DeclaredAuditActions {
    'operations/sinks': (typeof auditActions)[number]
  }
}
declare module '#platform/rate-limits/rate-limit.ts' {
  interface DeclaredRateLimits {
    'operations/sinks': keyof typeof rateLimits
  }
}

export const sinks = defineModule()({
  name: 'operations/sinks',
  endpoints: endpointsOf(endpoints),
  mount: (hosts, { kernel }) => sinkRoutes(hosts.api, kernel),
  auditActions,
  rateLimits,
  tables: { sink: { backup: 'include', placement: 'every node' } },
  cleanupTasks: { 'sink-secrets': pruneSinkSecrets },
  maintenanceTasks: { 'reencrypt-sink-secrets': reencryptSinks },
  background: ({ kernel }) => startSinkSender(kernel),
})
