import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import type { CompletedRequest, Telemetry } from './telemetry.ts'
import type { Fault } from '#platform/api-error.ts'
import { version } from '#platform/config/config.ts'

/** A Prometheus metric with its samples, each by its name and labels in text form. */
export type MetricFamily = {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  /** Rule for merging the same sample of several processes. */
  merged: 'sum' | 'max'
  samples: [sample: string, value: number][]
}

/** Connections of a database pool: all, idle ones, and statements waiting for one. */
export type PoolStats = { open: number; idle: number; waiting: number }

export type Metrics = Telemetry & { read: () => Promise<MetricFamily[]> }

const bucketSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const delayTickMilliseconds = 20
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

type Durations = { labels: string; buckets: number[]; count: number; sum: number }

/**
 * Collects the metrics of this process. Labels are route patterns, methods, status classes and constant names: a
 * bounded number, and never data of a user, an app or a token.
 */
export function createMetrics(connections: () => PoolStats): Metrics {
  const requests = new Map<string, Durations>()
  // From zero on: a counter that appears with its first value shows no increase.
  const faults = new Map(faultKinds.map((fault) => [faultLabel(fault), 0]))
  const grants = new Map<string, number>()
  const refusals = new Map<string, number>()
  const webhookAttempts = new Map<string, number>()
  const logoutAttempts = new Map<string, number>()
  const delay = monitorEventLoopDelay({ resolution: delayTickMilliseconds })
  delay.enable()
  const startedAt = Date.now() / 1000 - process.uptime()

  return {
    answered: (answered) => observe(requests, answered),
    failed: (fault) => increment(faults, faultLabel(fault)),
    granted: (kind, outcome) => increment(grants, `{grant="${kind}",outcome="${outcome}"}`),
    limited: (what) => increment(refusals, `{limit="${what.replaceAll(' ', '-')}"}`),
    webhookAttempted: (outcome) => increment(webhookAttempts, `{outcome="${outcome}"}`),
    logoutAttempted: (outcome) => increment(logoutAttempts, `{outcome="${outcome}"}`),
    async read() {
      // A delay is recorded by the tick after it, and a reset would lose one that is due.
      await pause(delayTickMilliseconds + 1)
      return [
        {
          name: 'countersign_http_request_duration_seconds',
          help: 'Time from a request to the end of its response.',
          type: 'histogram',
          merged: 'sum',
          samples: [...requests.values()].flatMap(histogramSamples),
        },
        counter('countersign_request_faults_total', 'Requests that failed by a fault of the service.', faults),
        counter('countersign_token_requests_total', 'Grants of authenticated clients at the token endpoint.', grants),
        counter('countersign_rate_limit_rejections_total', 'Requests that a rate limit rejected.', refusals),
        counter('countersign_webhook_attempts_total', 'Attempts to deliver a webhook.', webhookAttempts),
        counter('countersign_logout_token_attempts_total', 'Attempts to deliver a logout token.', logoutAttempts),
        ...databaseMetrics(connections()),
        ...processMetrics(startedAt, delay),
      ]
    },
  }
}

function observe(requests: Map<string, Durations>, { method, route, status, milliseconds }: CompletedRequest): void {
  const known = methods.has(method) ? method : 'other'
  const statusClass = Math.floor(status / 100)
  const key = `${known} ${route} ${statusClass}`
  let durations = requests.get(key)
  if (!durations) {
    const labels = `method="${known}",route="${escape(route)}",status="${statusClass}xx"`
    durations = { labels, buckets: bucketSeconds.map(() => 0), count: 0, sum: 0 }
    requests.set(key, durations)
  }
  const seconds = milliseconds / 1000
  const bucket = bucketSeconds.findIndex((bound) => seconds <= bound)
  if (bucket >= 0) durations.buckets[bucket] = (durations.buckets[bucket] ?? 0) + 1
  durations.count += 1
  durations.sum += seconds
}

/** Returns the cumulative samples of a histogram. */
function histogramSamples({ labels, buckets, count, sum }: Durations): [string, number][] {
  let below = 0
  return [
    ...buckets.map((each, index): [string, number] => {
      below += each
      return [`_bucket{${labels},le="${bucketSeconds[index]}"}`, below]
    }),
    [`_bucket{${labels},le="+Inf"}`, count],
    [`_sum{${labels}}`, sum],
    [`_count{${labels}}`, count],
  ]
}

const faultKinds = ['server_error', 'database_unavailable', 'mail_unavailable', 'overloaded'] satisfies Fault[]

function faultLabel(fault: string): string {
  return `{fault="${fault}"}`
}

function increment(counts: Map<string, number>, labels: string): void {
  counts.set(labels, (counts.get(labels) ?? 0) + 1)
}

function counter(name: string, help: string, counts: Map<string, number>): MetricFamily {
  return { name, help, type: 'counter', merged: 'sum', samples: [...counts] }
}

function gauge(name: string, help: string, value: number, merged: MetricFamily['merged'] = 'sum'): MetricFamily {
  return { name, help, type: 'gauge', merged, samples: [['', value]] }
}

function databaseMetrics({ open, idle, waiting }: PoolStats): MetricFamily[] {
  return [
    gauge('countersign_database_connections', 'Connections to the database.', open),
    gauge('countersign_database_pool_idle_connections', 'Idle connections to the database.', idle),
    gauge('countersign_database_pool_waiting', 'Statements that wait for a connection.', waiting),
  ]
}

/** Returns metrics of the process itself. Delays are measured since the last reading. */
function processMetrics(startedAt: number, delay: ReturnType<typeof monitorEventLoopDelay>): MetricFamily[] {
  const { user, system } = process.cpuUsage()
  const [p99, max] = delay.count === 0 ? [0, 0] : [delay.percentile(99) / 1e9, delay.max / 1e9]
  delay.reset()
  const cpu = new Map([['', (user + system) / 1e6]])
  return [
    gauge('countersign_event_loop_delay_p99_seconds', 'Delay of the event loop, 99th percentile.', p99, 'max'),
    gauge('countersign_event_loop_delay_max_seconds', 'Delay of the event loop, maximum.', max, 'max'),
    counter('process_cpu_seconds_total', 'Processor time of all processes.', cpu),
    gauge('process_resident_memory_bytes', 'Resident memory of all processes.', process.memoryUsage.rss()),
    gauge('process_start_time_seconds', 'Start time of the youngest process.', startedAt, 'max'),
    servingProcesses(1),
    {
      name: 'countersign_build_info',
      help: 'Version of the running server.',
      type: 'gauge',
      merged: 'max',
      samples: [[`{version="${escape(version)}"}`, 1]],
    },
  ]
}

export function servingProcesses(count: number): MetricFamily {
  return gauge('countersign_worker_processes', 'Number of processes that serve requests and respond.', count)
}

export function configuredProcesses(count: number): MetricFamily {
  return gauge('countersign_worker_processes_configured', 'Configured number of processes.', count)
}

/** Escapes a label value for the text format. */
function escape(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Merges the readings of several processes. */
export function mergeMetrics(readings: MetricFamily[][]): MetricFamily[] {
  const merged = new Map<string, { family: MetricFamily; values: Map<string, number> }>()
  for (const family of readings.flat()) {
    const { values } = merged.get(family.name) ?? { values: new Map<string, number>() }
    merged.set(family.name, { family, values })
    for (const [sample, value] of family.samples) {
      const other = values.get(sample) ?? 0
      values.set(sample, family.merged === 'sum' ? other + value : Math.max(other, value))
    }
  }
  return [...merged.values()].map(({ family, values }) => ({ ...family, samples: [...values] }))
}

/** Formats metrics in the text format of Prometheus. */
export function toPrometheusText(families: MetricFamily[]): string {
  const lines = families.flatMap(({ name, help, type, samples }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([sample, value]) => `${name}${sample} ${value}`),
  ])
  return `${lines.join('\n')}\n`
}
