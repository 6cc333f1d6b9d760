import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { createTraces } from '#platform/observability/traces.ts'
import { serveHere } from '#testing/service-here.ts'
import { freePorts, startService, type Served } from '#testing/service.ts'
import { startStopwatch } from '#testing/stopwatch.ts'
import { startTraceReceiver, type ReceivedSpan } from '#testing/trace-receiver.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined

/** Starts the service with metrics on a port, as two processes if possible. */
async function startMeasured(t: TestContext, environment: Record<string, string> = {}) {
  const [port] = await freePorts(1)
  const settings = { METRICS_PORT: String(port), ...environment }
  const service = isShared
    ? await startService({ environment: { ...settings, WORKERS: '2' } })
    : await serveHere(settings)
  t.after(() => service.close())
  return { service, url: `http://localhost:${port}/metrics` }
}

/** Returns the value of a sample, or 0 if there is none. */
async function sample(url: string, name: string): Promise<number> {
  const lines = (await (await fetch(url)).text()).split('\n')
  return Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0)
}

/** Sends a request over a new connection, so that any of the processes may receive it. */
function ask(service: Served, path: string, init: { method?: string; headers?: Record<string, string> } = {}) {
  return fetch(service.baseUrl + path, { ...init, headers: { ...init.headers, connection: 'close' } })
}

test('metrics count every request by its route, over all processes', async (t) => {
  const { service, url } = await startMeasured(t)
  for (let count = 0; count < 12; count += 1) await ask(service, `/api/oauth/app/app_unknown${count}`)
  await ask(service, '/nothing/here', { method: 'PROPFIND' })
  const labels = 'method="GET",route="/api/oauth/app/:clientId",status="4xx"'
  assert.equal(await sample(url, `countersign_http_request_duration_seconds_count{${labels}}`), 12)
  assert.equal(await sample(url, `countersign_http_request_duration_seconds_bucket{${labels},le="+Inf"}`), 12)
  const text = await (await fetch(url)).text()
  assert.match(text, /route="none",status="4xx"/)
  assert.doesNotMatch(text, /app_unknown|nothing\/here|PROPFIND/)
  for (const name of ['countersign_worker_processes', 'countersign_worker_processes_configured'])
    assert.equal(await sample(url, name), isShared ? 2 : 1, name)
  assert.ok((await sample(url, 'process_resident_memory_bytes')) > 1e7)
  assert.ok((await sample(url, 'process_cpu_seconds_total')) > 0)
  assert.ok((await sample(url, 'countersign_database_connections')) >= 1)
  assert.match(text, /^countersign_event_loop_delay_p99_seconds [\d.]+$/m)
  for (const line of text.trimEnd().split('\n'))
    assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{[^}]+\})? [\d.e+-]+)$/)
})

test('metrics count rejections by rate limits', async (t) => {
  const { service, url } = await startMeasured(t, { RATE_LIMIT_NUMBERS: 'metadata=3' })
  for (let count = 0; count < 5; count += 1) await ask(service, '/api/oauth/app/app_unknown')
  assert.equal(await sample(url, 'countersign_rate_limit_rejections_total{limit="metadata"}'), 2)
})

test('metrics count the outcome of each webhook attempt', async (t) => {
  const { service, url } = await startMeasured(t)
  const receiver = await startWebhookReceiver([204, 410])
  t.after(receiver.close)
  const admin = async (method: string, path: string, body?: object) => {
    const headers = { ...service.admin, ...(body && { 'content-type': 'application/json' }) }
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    return JSON.parse(await (await fetch(`${service.baseUrl}/api/admin/apps${path}`, sent)).text())
  }
  const app = await admin('POST', '', { name: 'Shop', redirectUris: ['https://shop.example/'] })
  const path = `/${app.clientId}/webhook`
  await admin('PUT', path, { url: receiver.url })
  for (const outcome of ['delivered', 'endpoint_gone']) {
    await admin('POST', `${path}/test`)
    while ((await admin('GET', `${path}/deliveries?limit=1`)).deliveries[0].state === 'pending') await pause(20)
    assert.equal(await sample(url, `countersign_webhook_attempts_total{outcome="${outcome}"}`), 1)
  }
  assert.ok(!(await (await fetch(url)).text()).includes(app.clientId))
})

test('SUP-08 metrics are served on their own port only, and nothing else is', async (t) => {
  const { service, url } = await startMeasured(t)
  for (const host of [service.baseUrl, service.authUrl, service.businessUrl])
    for (const path of ['/metrics', '/debug', '/debug/pprof', '/server-status'])
      assert.equal((await fetch(host + path)).status, 404, host + path)
  // The console is a page of the host where users sign in. It is the same for everyone, and has no metrics.
  for (const path of ['/admin', '/admin/metrics']) {
    for (const host of [service.baseUrl, service.businessUrl])
      assert.equal((await fetch(host + path)).status, 421, host + path)
    assert.doesNotMatch(await (await fetch(service.authUrl + path)).text(), /process_cpu|_bucket|heap|uptime/)
  }
  for (const path of ['/', '/healthz', '/metrics/', '/api/admin/apps'])
    assert.equal((await fetch(new URL(path, url))).status, 404, path)
  assert.equal((await fetch(url, { method: 'POST' })).status, 404)
})

test('traces have one server span per request, with route and request ID and without content', async (t) => {
  const receiver = await startTraceReceiver([503])
  t.after(receiver.close)
  const service = await startService({
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=a%20key',
      OTEL_SERVICE_NAME: 'our-login',
    },
  })
  t.after(() => service.close())
  const headers = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
  const answers = await Promise.all([
    ask(service, '/api/oauth/app/app_hidden?query=hidden', { headers }),
    ask(service, '/healthz'),
  ])
  assert.equal(await service.end('SIGTERM'), 0)

  assert.deepEqual(new Set(receiver.requests.map(({ url, key }) => `${url} ${key}`)), new Set(['/v1/traces a key']))
  assert.match(receiver.received(), /our-login/)
  assert.doesNotMatch(receiver.received(), /hidden/)
  const span = receiver.spans.find(({ name }) => name === 'GET /api/oauth/app/:clientId')
  assert.ok(span)
  assert.equal(receiver.spans.length, 2)
  assert.deepEqual(attributesOf(span), {
    'http.request.method': 'GET',
    'http.route': '/api/oauth/app/:clientId',
    'http.response.status_code': '404',
    'countersign.request_id': answers[0].headers.get('x-request-id'),
    'error.type': 'app_not_found',
  })
  assert.equal(span.kind, 2)
  assert.match(span.traceId, /^[0-9a-f]{32}$/)
  assert.match(span.spanId, /^[0-9a-f]{16}$/)
  assert.equal(span.parentSpanId, undefined)
  assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
  assert.ok(Math.abs(Number(BigInt(span.endTimeUnixNano) / 1_000_000n) - Date.now()) < 60_000)
})

test('traces continue those of a trusted proxy, and omit unsampled ones', async (t) => {
  const receiver = await startTraceReceiver()
  t.after(receiver.close)
  const service = await startService({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, TRUST_PROXY: '1' },
  })
  t.after(() => service.close())
  for (const flags of ['01', '00'])
    await ask(service, '/healthz', { headers: { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-${flags}` } })
  await service.end('SIGTERM')
  assert.deepEqual(
    receiver.spans.map(({ traceId, parentSpanId }) => [traceId, parentSpanId]),
    [['a'.repeat(32), 'b'.repeat(16)]],
  )
})

test('OUT-05 an unreachable trace receiver does not delay the service, and the log names it', async (t) => {
  const [port] = await freePorts(1)
  const service = await startService({
    environment: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}/otlp` },
  })
  t.after(() => service.close())
  assert.equal((await ask(service, '/healthz')).status, 200)
  assert.equal(await service.end('SIGTERM'), 0)
  const line = service
    .output()
    .split('\n')
    .find((each) => each.includes('"trace export failed"'))
  const { receiver, cause } = JSON.parse(line ?? '{}')
  assert.equal(receiver, `http://127.0.0.1:${port}/otlp/v1/traces`)
  assert.equal(cause, `connect ECONNREFUSED 127.0.0.1:${port}`)
})

test('OUT-05 a trace receiver that never responds does not delay the service', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  const reached = once(silent, 'connection')
  t.after(() => silent.close())
  await once(silent, 'listening')
  const address = silent.address()
  assert.ok(address !== null && typeof address === 'object')
  const endpoint = `http://127.0.0.1:${address.port}`
  const service = await startService({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } })
  t.after(() => service.close())
  assert.equal((await ask(service, '/healthz')).status, 200)
  const [socket] = await reached
  t.after(() => socket.destroy())
  assert.equal((await ask(service, '/healthz')).status, 200, 'while the export has no response')
  using watch = startStopwatch()
  assert.equal(await service.end('SIGTERM'), 0)
  assert.ok(watch.milliseconds() < 15_000)
  const causes = service
    .output()
    .split('\n')
    .filter((each) => each.includes('"trace export failed"'))
    .map((line) => JSON.parse(line))
    .map(({ receiver, cause }) => `${receiver}: ${cause}`)
  assert.ok(causes.length > 0)
  for (const cause of causes) assert.ok(cause.startsWith(`${endpoint}/v1/traces: no response `), cause)
})

test('OUT-05 spans wait for a trace receiver, and the log counts dropped ones', { timeout: 25_000 }, async (t) => {
  const [arrived, released, complete] = [0, 1, 2].map(() => Promise.withResolvers<void>())
  const receiver = await startTraceReceiver([503], {
    onRequest() {
      arrived?.resolve()
      return released?.promise
    },
    onSpans: (count) => count === 4096 && complete?.resolve(),
  })
  t.after(receiver.close)
  const warnings: object[] = []
  const answers = new EventEmitter()
  const setting = {
    endpoint: new URL(receiver.endpoint),
    headers: undefined,
    serviceName: 'our-login',
    heedsParent: false,
  }
  const traces = createTraces(setting, (facts, message) => {
    warnings.push({ ...facts, message })
    answers.emit(message)
  })
  t.after(() => traces.close())
  const answer = (count: number) => {
    for (let index = 0; index < count; index += 1)
      traces.answered({ requestId: 'r', method: 'GET', route: '/', status: 200, milliseconds: 1 }, undefined)
  }
  answer(512)
  await arrived?.promise
  answer(4096 + 100)
  const rejected = once(answers, 'trace export rejected')
  released?.resolve()
  await rejected
  // Neither these, nor what waits already, cause an attempt before its time.
  answer(8)
  assert.equal(receiver.requests.length, 1)
  await complete?.promise
  const name = `${receiver.endpoint}/v1/traces`
  assert.deepEqual(warnings, [
    { receiver: name, status: 503, spans: 512, dropped: 612, message: 'trace export rejected' },
    { receiver: name, dropped: 620, message: 'trace spans dropped' },
  ])
})

function attributesOf({ attributes }: ReceivedSpan): Record<string, string | undefined> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]))
}
