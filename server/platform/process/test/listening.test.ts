import assert from 'node:assert/strict'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { after, before, test } from 'node:test'
import { serveHere } from '#testing/service-here.ts'
import { freePorts, launch, prepareService, startService, type Served } from '#testing/service.ts'

/** Addresses of this machine that a service on loopback does not use. */
const others = [
  '127.0.0.2',
  ...Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address),
]

let local: Served
let metricsPort: number
before(async () => {
  ;[metricsPort = 0] = await freePorts(1)
  local = await serveHere({ METRICS_PORT: String(metricsPort) })
})
after(() => local.close())

/** Checks whether an address accepts connections. */
function isListening(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

const portsOf = ({ baseUrl, authUrl, businessUrl }: Served) =>
  [baseUrl, authUrl, businessUrl].map((url) => Number(new URL(url).port))

/** Sends a request with a Host header and returns the response. */
type Answer = { status: number | undefined; headers: IncomingHttpHeaders; body: string }

function ask(port: number, path: string, host: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers: { ...headers, host } }, (response) => {
      let body = ''
      response.on('data', (chunk: Buffer) => (body += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

test('NET-03 a service on localhost listens only on loopback, including its metrics', async () => {
  for (const port of [...portsOf(local), metricsPort]) {
    assert.ok(await isListening('127.0.0.1', port))
    assert.equal(await isListening('localhost', port), true)
    for (const address of others) assert.equal(await isListening(address, port), false, `${address}:${port}`)
  }
})

test('NET-03 HOST sets the listen addresses, including those of metrics', async (t) => {
  for (const { HOST, reached } of [
    { HOST: '0.0.0.0', reached: ['127.0.0.1', ...others] },
    { HOST: '127.0.0.2', reached: ['127.0.0.2'] },
    { HOST: '127.0.0.1, 127.0.0.2', reached: ['127.0.0.1', '127.0.0.2'] },
  ]) {
    const [port = 0] = await freePorts(1)
    const service = await serveHere({ HOST, METRICS_PORT: String(port) })
    t.after(() => service.close())
    for (const each of [...portsOf(service), port])
      for (const address of ['127.0.0.1', ...others])
        assert.equal(await isListening(address, each), reached.includes(address), `${HOST} at ${address}`)
  }
})

test('NET-03 a service with public URLs listens at every address', async (t) => {
  const [port = 0] = await freePorts(1)
  const service = await serveHere({
    BASE_URL: 'https://api.id.example.com',
    AUTH_URL: 'https://id.example.com',
    BUSINESS_URL: 'https://business.id.example.com',
    PORT: String(port),
    ALLOW_EMBEDDED: '1',
    TRUST_PROXY: 'off',
  })
  t.after(() => service.close())
  for (const address of ['127.0.0.1', ...others]) assert.ok(await isListening(address, port), address)
})

test('NET-04 an address that is not of this machine prevents the start with one line', async (t) => {
  const service = await prepareService({ environment: { HOST: '198.51.100.7' } })
  t.after(() => service.close())
  const { ready, process: child, output } = launch(service.settings)
  await assert.rejects(ready)
  assert.equal(child.exitCode, 1)
  assert.match(output(), /^HOST contains 198\.51\.100\.7, which is not an address of this machine[^\n]*\n$/)
})

test('NET-05 a host with its own port rejects requests that name another host', async () => {
  for (const port of portsOf(local))
    for (const name of ['evil.example', `evil.example:${port}`, `localhost.evil.example:${port}`, '127.0.0.1.nip.io'])
      for (const path of ['/openapi.json', '/login', '/api/auth/session', '/nowhere']) {
        const { status, body } = await ask(port, path, name)
        assert.deepEqual([status, JSON.parse(body).error], [421, 'misdirected_request'], `${name}${path}`)
      }
})

test('NET-05 HLP-02 a browser under another name gets a page that names no host and loads nothing', async () => {
  const [port = 0] = portsOf(local)
  const { status, body, headers } = await ask(port, '/', 'evil.example', { accept: 'text/html' })
  assert.equal(status, 421)
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.match(String(headers['content-security-policy']), /^default-src 'none'/)
  assert.match(body, /<h1>Unknown address<\/h1>/)
  assert.doesNotMatch(body, /localhost|http:|<script|<a /)
})

test('NET-05 health checks are answered under any name, and all paths under local names', async () => {
  for (const port of portsOf(local)) {
    for (const name of ['10.1.2.3:8080', 'evil.example'])
      for (const path of ['/healthz', '/readyz']) assert.equal((await ask(port, path, name)).status, 200, name)
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'].flatMap((each) => [each, `${each}:${port}`]))
      assert.equal((await ask(port, '/nowhere', name)).status, 404, name)
  }
})

test('NET-05 a page whose name points to this machine cannot read metrics on loopback', async () => {
  assert.equal((await ask(metricsPort, '/metrics', `evil.example:${metricsPort}`)).status, 421)
  assert.equal((await ask(metricsPort, '/metrics', `127.0.0.1:${metricsPort}`)).status, 200)
})

test('NET-02 X-Forwarded-For from an untrusted address is logged once and ignored', async (t) => {
  const environment = { TRUST_PROXY: '10.0.0.0/8', RATE_LIMIT_NUMBERS: 'metadata=3' }
  const service = await startService({ environment })
  t.after(() => service.close())
  const statuses: number[] = []
  for (let count = 1; count <= 5; count += 1) {
    const headers = { 'x-forwarded-for': `198.51.100.${count}` }
    statuses.push((await fetch(`${service.baseUrl}/api/oauth/app/app_unknown`, { headers })).status)
  }
  assert.deepEqual(statuses, [404, 404, 404, 429, 429])
  await service.end('SIGTERM')
  const received = service
    .output()
    .split('\n')
    .filter((line) => line.includes('X-Forwarded-For'))
  assert.equal(received.length, 1)
  assert.match(received[0] ?? '', /"level":40.*TRUST_PROXY/)
  assert.doesNotMatch(received[0] ?? '', /198\.51/)
})

test('NET-02 X-Forwarded-For from a trusted address is accepted', async (t) => {
  const service = await startService({ environment: { TRUST_PROXY: '127.0.0.0/8,::1' } })
  t.after(() => service.close())
  await fetch(`${service.baseUrl}/healthz`, { headers: { 'x-forwarded-for': '198.51.100.1' } })
  await service.end('SIGTERM')
  assert.doesNotMatch(service.output(), /X-Forwarded-For/)
})

test('NET-09 an invalid address from a trusted proxy is logged once, without the value', async (t) => {
  const service = await startService({ environment: { TRUST_PROXY: '1' } })
  t.after(() => service.close())
  const named = ['198.51.100.1:443', '[2001:db8::1]:443', '', ',', 'nonsense-1', 'nonsense-2']
  for (const text of named) await fetch(`${service.baseUrl}/healthz`, { headers: { 'x-forwarded-for': text } })
  await service.end('SIGTERM')
  const received = service
    .output()
    .split('\n')
    .filter((line) => line.includes('X-Forwarded-For'))
  assert.equal(received.length, 1)
  assert.match(received[0] ?? '', /"level":40.*TRUST_PROXY.*no IP address/)
  assert.doesNotMatch(received[0] ?? '', /nonsense|198\.51/)
})
