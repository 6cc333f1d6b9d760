import type { Fault } from '#platform/api-error.ts'
import type { Config } from '#platform/config/config.ts'
import type { Storage } from '#platform/database/database.ts'
import type { Logger } from './log.ts'
import { type MetricFamily, createMetrics } from './metrics.ts'
import { createTraces } from './traces.ts'

/** A completed request for log, metrics and traces: its path as a pattern, without content. */
export type CompletedRequest = {
  requestId: string
  method: string
  /** Pattern of the path, or `none` without a route. */
  route: string
  status: number
  milliseconds: number
  /** Error code, if the request was rejected. */
  refusal?: string
}

/** Receivers of events, in addition to the log. Each is called on the hot path and must be nearly free. */
export type Telemetry = {
  answered: (answered: CompletedRequest, traceparent: string | undefined) => void
  /** Records a request that the service itself could not answer. */
  failed: (fault: Fault) => void
  /** Records a grant at the token endpoint: its grant type, and `issued` or the error code. */
  granted: (kind: string, outcome: string) => void
  /** Records a rejection by a rate limit. */
  limited: (what: string) => void
  /** Records an attempt to deliver a webhook, and its outcome. */
  webhookAttempted: (outcome: 'delivered' | 'retry_scheduled' | 'failed' | 'endpoint_gone') => void
  /** Records an attempt to deliver a logout token, and its outcome. */
  logoutAttempted: (outcome: 'delivered' | 'retry_scheduled' | 'failed') => void
}

/** Telemetry that records nothing. */
export const noTelemetry: Telemetry = {
  answered: () => {},
  failed: () => {},
  granted: () => {},
  limited: () => {},
  webhookAttempted: () => {},
  logoutAttempted: () => {},
}

/** Configured telemetry: metrics, which are read, and traces, which are sent. */
export type OpenTelemetry = {
  telemetry: Telemetry
  readMetrics: () => Promise<MetricFamily[]>
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
    readMetrics: async () => metrics?.read() ?? [],
    close: async () => traces?.close(),
  }
}
