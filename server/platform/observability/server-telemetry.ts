import type { Config } from '#platform/config/config.ts'
import type { Storage } from '#platform/database/database.ts'
import type { Logger } from './log.ts'
import { createMetrics, type Family } from './metrics.ts'
import { noTelemetry, type Telemetry } from './telemetry.ts'
import { createTraces } from './traces.ts'

/** What is told beside the log, as far as it is configured: metrics, which are read, and traces, which are sent. */
export type OpenTelemetry = {
  telemetry: Telemetry
  readMetrics: () => Family[]
  close: () => Promise<void>
}

export function openTelemetry(
  config: Config,
  log: Logger,
  { connections }: Pick<Storage, 'connections'>,
): OpenTelemetry {
  const metrics = config.metricsPort === undefined ? undefined : createMetrics(connections)
  const traces = config.traces && createTraces(config.traces, (facts, message) => log.warn(facts, message))
  const telemetry = metrics ?? noTelemetry
  return {
    telemetry: traces
      ? {
          ...telemetry,
          answered(answered, traceparent) {
            telemetry.answered(answered, traceparent)
            traces.answered(answered, traceparent)
          },
        }
      : telemetry,
    readMetrics: () => metrics?.read() ?? [],
    close: async () => traces?.close(),
  }
}
