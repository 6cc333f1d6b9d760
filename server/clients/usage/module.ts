import type { ServerContext } from '#platform/module/services.ts'
import { defineModule } from '#platform/module/define-module.ts'
import { pruneUsage, startFlushing, type UsageCounter } from './usage.ts'

export const usage = defineModule<{ kernel: ServerContext; usage: UsageCounter }>()({
  name: 'clients/usage',
  // Statistics begin again after a restore.
  tables: { app_usage: { backup: 'exclude', placement: 'every node' } },
  cleanupTasks: { 'app-usage': pruneUsage },
  background: ({ kernel, usage: counter }) => startFlushing(kernel, counter),
})
