import { Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { type TracesSetting, version } from '#platform/config/config.ts'
import { allowEgress } from '#platform/egress.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { CompletedRequest } from './telemetry.ts'

export type Traces = {
  answered: (answered: CompletedRequest, traceparent: string | undefined) => void
  /** Sends the remaining spans. */
  close: () => Promise<void>
}

type Span = Record<string, unknown>
type Receiver = ReturnType<typeof createReceiver>
type ExportAnswer = { status: number } | { status?: undefined; cause: string }

const batchMax = 512
const waitingMax = 4096
const restMilliseconds = 5000
const exportMilliseconds = 5000
/** Maximum number of attempts at the end. */
const closingTriesMax = Math.ceil(waitingMax / batchMax)
/** Maximum time for all of them, because process managers kill a stopping process, often after ten seconds. */
const closingMilliseconds = 5000
const retriedStatuses = new Set([429, 502, 503, 504])

/**
 * Creates a server span for each request and sends it by OTLP/HTTP (JSON) in batches. A span contains the same fields
 * as the log: method, route pattern, status, request ID. Failed batches are retried; beyond a limit, spans are dropped.
 * Their number is logged.
 */
export function createTraces(setting: TracesSetting, warn: (facts: object, message: string) => void): Traces {
  const { serviceName } = setting
  const receiver = createReceiver(setting)
  const resource = { attributes: attributesOf({ 'service.name': serviceName, 'service.version': version }) }
  let waiting: Span[] = []
  let sending: Promise<void> | undefined
  /** Spans dropped since the last accepted batch. */
  let dropped = 0
  /** True if the last batch must be repeated. The next attempt waits for the timer. */
  let isResting = false
  const ending = new AbortController()

  /** Sends one batch. */
  async function send(): Promise<void> {
    const spans = waiting.splice(0, batchMax)
    if (spans.length === 0) return
    const scopeSpans = [{ scope: { name: 'countersign', version }, spans }]
    const answer = await exportTo(receiver, { resourceSpans: [{ resource, scopeSpans }] }, ending.signal)
    isResting = answer.status === undefined || retriedStatuses.has(answer.status)
    if (isResting) putBack(spans)
    const facts = { receiver: receiver.name, ...answer, spans: spans.length, dropped }
    if (answer.status === undefined) return warn(facts, 'trace export failed')
    if (answer.status < 200 || answer.status >= 300) return warn(facts, 'trace export rejected')
    if (dropped > 0) warn({ receiver: receiver.name, dropped }, 'trace spans dropped')
    dropped = 0
  }

  function putBack(spans: Span[]): void {
    const kept = [...spans, ...waiting].slice(0, waitingMax)
    dropped += spans.length + waiting.length - kept.length
    waiting = kept
  }

  /** Sends a batch, and then those that are full, as long as the receiver keeps up. */
  async function sendAll(): Promise<void> {
    do await send()
    while (waiting.length >= batchMax && !isResting)
  }

  /** Sends what waits, unless it is being sent. */
  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => (sending = undefined))
    return sending
  }
  const timer = setInterval(() => void flush(), restMilliseconds).unref()

  return {
    answered(answered, traceparent) {
      const span = spanOf(answered, setting.heedsParent ? traceparent : undefined)
      if (!span) return
      if (waiting.length >= waitingMax) return void (dropped += 1)
      waiting.push(span)
      if (waiting.length >= batchMax && !isResting) void flush()
    },
    async close() {
      clearInterval(timer)
      const end = setTimeout(() => ending.abort(new Error('no response before the service ended')), closingMilliseconds)
      await sending
      for (let tries = 0; tries < closingTriesMax && waiting.length > 0 && !ending.signal.aborted; tries += 1)
        await flush()
      clearTimeout(end)
      receiver.close()
    },
  }
}

/**
 * Creates a client that posts to the receiver and returns the status. It keeps its connection open for the next batch.
 */
function createReceiver({ endpoint, headers }: TracesSetting) {
  const url = new URL('v1/traces', endpoint.href.replace(/\/?$/, '/'))
  const encrypted = url.protocol === 'https:'
  const agent = encrypted ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  return {
    /** Its address without user name and password. */
    name: url.origin + url.pathname,
    post(body: string, ending: AbortSignal): Promise<number> {
      const options = {
        method: 'POST',
        headers: {
          ...readHeaders(headers),
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        },
        agent,
        signal: AbortSignal.any([AbortSignal.timeout(exportMilliseconds), ending]),
      }
      return new Promise((resolve, reject) => {
        const sent = encrypted ? requestHttps(url, options) : requestHttp(url, options)
        sent.on('response', (response) => {
          response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0))
          response.resume()
        })
        sent.on('error', reject)
        sent.end(body)
      })
    },
    close: () => agent.destroy(),
  }
}

/** Returns the status of the response, or why there is none. */
async function exportTo(receiver: Receiver, message: object, ending: AbortSignal): Promise<ExportAnswer> {
  try {
    const body = JSON.stringify(message)
    return { status: await allowEgress('telemetry', () => receiver.post(body, ending)) }
  } catch (error) {
    return { cause: describeCause(error) }
  }
}

/** Describes why a batch could not be sent, such as `connect ECONNREFUSED 127.0.0.1:4318`. */
function describeCause(error: unknown): string {
  // A name with several addresses has one error for each.
  if (error instanceof AggregateError) return error.errors.map(describeCause).join(', ')
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'AbortError' && error.cause !== undefined) return describeCause(error.cause)
  if (error.name === 'TimeoutError') return `no response within ${exportMilliseconds} milliseconds`
  return error.message
}

/** Builds the span of a completed request. Returns undefined if its parent says that the trace is not recorded. */
function spanOf(
  { requestId, method, route, status, milliseconds, refusal }: CompletedRequest,
  traceparent: string | undefined,
) {
  const [, traceId, parentSpanId, flags] =
    /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? []
  if (flags !== undefined && (Number.parseInt(flags, 16) & 1) === 0) return undefined
  const endedAt = Date.now()
  return {
    traceId: traceId ?? randomBytes(16).toString('hex'),
    spanId: randomBytes(8).toString('hex'),
    ...(parentSpanId !== undefined && { parentSpanId }),
    name: `${method} ${route}`,
    kind: 2,
    startTimeUnixNano: `${Math.round((endedAt - milliseconds) * 1000)}000`,
    endTimeUnixNano: `${endedAt}000000`,
    attributes: attributesOf({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
      'countersign.request_id': requestId,
      ...(refusal !== undefined && { 'error.type': refusal }),
    }),
    status: status >= 500 ? { code: 2 } : {},
  }
}

/** Parses percent-encoded `name=value,name=value` of OTEL_EXPORTER_OTLP_HEADERS. */
function readHeaders(headers: Secret | undefined): Record<string, string> {
  const pairs = headers?.reveal().split(',') ?? []
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = '', ...value] = pair.split('=')
      return [name.trim(), decodeURIComponent(value.join('=').trim())]
    }),
  )
}

function attributesOf(attributes: Record<string, string | number>) {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === 'number' ? { intValue: String(value) } : { stringValue: value },
  }))
}
