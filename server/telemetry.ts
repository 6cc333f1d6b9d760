import type { Config } from '#kernel/config.ts'
import type { Storage } from '#kernel/database.ts'
import type { Logger } from '#kernel/log.ts'
import { createMetrics, type Family } from '#kernel/metrics.ts'
import { noTelemetry, type Telemetry } from '#kernel/telemetry.ts'
import { createTraces } from '#kernel/traces.ts'

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
