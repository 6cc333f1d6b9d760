import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { on, once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { createAuthenticator } from '#testing/authenticator.ts'
import { codeIn, openMailbox } from '#testing/mailbox.ts'
import { startService, workersOf, type Service } from '#testing/service.ts'
import { startTraceReceiver } from '#testing/trace-receiver.ts'
import { startWebhookReceiver } from '#testing/webhook-receiver.ts'
import { readDockerfile } from '../../tools/image.ts'

const isShared = process.env['TEST_DATABASE_URL'] !== undefined

/**
 * Library in a process of the service, loaded first, that keeps Node's original functions. On a signal it tries every
 * outbound channel and reports the results.
 */
const library = `
import { createSocket } from 'node:dgram'
import { lookup, Resolver } from 'node:dns'
import { lookup as lookupLater, resolveTxt } from 'node:dns/promises'
import { get } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { get as getEncrypted } from 'node:https'
import { connect } from 'node:net'
import { connect as connectEncrypted } from 'node:tls'
import { fetch as fetchOfLibrary, Agent } from ${JSON.stringify(import.meta.resolve('undici'))}

const { LISTENER_PORT: port, LOCAL_SOCKET: path } = process.env
const host = '127.0.0.1'
const onError = (open) => new Promise((resolve, reject) => {
  const opened = open(resolve)
  opened.on('error', reject)
})
const ways = {
  fetch: () => fetch('http://127.0.0.1:' + port),
  'fetch, encrypted': () => fetch('https://localhost:' + port),
  'fetch of a library': () => fetchOfLibrary('http://127.0.0.1:' + port, { dispatcher: new Agent() }),
  http: () => onError((done) => get({ host, port }, done)),
  https: () => onError((done) => getEncrypted({ host, port, rejectUnauthorized: false }, done)),
  http2: () => onError((done) => connectHttp2('https://127.0.0.1:' + port, done)),
  net: () => onError((done) => connect(Number(port), host, done)),
  'net, by options': () => onError((done) => connect({ port: Number(port), host }, done)),
  'net, local socket': () => onError((done) => connect(path, done)),
  tls: () => onError((done) => connectEncrypted({ host, port: Number(port), rejectUnauthorized: false }, done)),
  websocket: () => new Promise((resolve, reject) => {
    const socket = new WebSocket('ws://127.0.0.1:' + port)
    socket.onopen = resolve
    socket.onerror = () => reject({ code: 'outbound_not_allowed' })
  }),
  udp: () => new Promise((resolve, reject) => {
    const socket = createSocket('udp4')
    socket.send('hello', Number(port), host, (error) => { socket.close(); error ? reject(error) : resolve() })
  }),
  lookup: () => new Promise((resolve, reject) => lookup('a.example', (error) => error ? reject(error) : resolve())),
  'lookup, promised': () => lookupLater('b.example'),
  txt: () => resolveTxt('c.example'),
  resolver: () => new Promise((resolve, reject) =>
    new Resolver().resolve4('d.example', (error) => error ? reject(error) : resolve())),
}
process.on('SIGUSR2', async () => {
  const became = {}
  for (const [name, way] of Object.entries(ways))
    became[name] = await way().then(() => 'connected', (error) => error.code ?? error.cause?.code ?? String(error))
  connect(Number(port), host)
  console.log('library ' + JSON.stringify(became))
})
`

/** Listens by TCP, by UDP and at a local socket, and counts connections. */
async function listenForCallers(t: TestContext, folder: string) {
  let callers = 0
  const tcp = createServer((socket) => {
    callers += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const address = tcp.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const udp = createSocket('udp4', () => (callers += 1)).bind(address.port, '127.0.0.1')
  await once(udp, 'listening')
  const path = join(folder, 'socket')
  const local = createServer(() => (callers += 1)).listen(path)
  await once(local, 'listening')
  t.after(() => {
    tcp.close()
    udp.close()
    local.close()
  })
  return { environment: { LISTENER_PORT: String(address.port), LOCAL_SOCKET: path }, callers: () => callers }
}

/** Starts the service with that library in each of its processes. */
async function startWithLibrary(t: TestContext, environment: Record<string, string> = {}, flags: string[] = []) {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-library-'))
  const dataDirectory = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'library.mjs'), library)
  const listener = await listenForCallers(t, folder)
  const own = flags.map((flag) => flag.replace(/^(--allow-fs-write)=.*/, `$1=${dataDirectory}`))
  const options = [...own, `--import=${join(folder, 'library.mjs')}`].join(' ')
  const service = await startService({
    dataDirectory,
    environment: { ...environment, ...listener.environment, NODE_OPTIONS: options },
  })
  t.after(() => service.close())
  return { service, ...listener }
}

/** Returns the result of each channel that the library tried in that process of the service. */
async function tryEveryWay({ process: { stdout } }: Service, pid = 0): Promise<Record<string, string>> {
  const said = on(stdout, 'data')
  process.kill(pid, 'SIGUSR2')
  let text = ''
  for await (const [chunk] of said) {
    text += String(chunk)
    const found = /library (\{.*\})\n/.exec(text)
    if (found) return JSON.parse(found[1] ?? '')
  }
  return {}
}

function assertNoWayOut(became: Record<string, string>): void {
  assert.ok(Object.keys(became).length > 10)
  for (const [way, what] of Object.entries(became)) assert.equal(what, 'outbound_not_allowed', way)
}

const json = { 'content-type': 'application/json' }

async function send(url: string, payload?: object, headers: Record<string, string> = {}, method = 'POST') {
  const body = payload === undefined ? {} : { body: JSON.stringify(payload) }
  const answer = await fetch(url, { method, headers: { ...json, ...headers }, ...body })
  assert.ok(answer.ok, `${url} answered ${answer.status}`)
  return JSON.parse((await answer.text()) || '{}')
}

/** Registers a user who signs in with a passkey, over HTTP like a browser. */
async function signIn({ baseUrl, authUrl }: Service) {
  const authenticator = createAuthenticator({ origin: authUrl, rpId: 'localhost' })
  const handle = `person-${randomBytes(6).toString('hex')}`
  const registration = await send(`${baseUrl}/api/auth/register/start`, { handle, displayName: 'Ada' })
  await send(`${baseUrl}/api/auth/register/finish`, {
    flowId: registration.flowId,
    credential: authenticator.register(registration.options),
  })
  const started = await send(`${baseUrl}/api/auth/login/start`, {})
  const credential = authenticator.authenticate(started.options)
  const { sessionToken, identities } = await send(`${baseUrl}/api/auth/login/finish`, {
    flowId: started.flowId,
    credential,
  })
  return { headers: { authorization: `Bearer ${sessionToken}` }, identityId: identities[0].identityId }
}

/** Terminates all other connections to a database, like an administrator; returns their number. */
async function cutConnections(connectionString = ''): Promise<number | null> {
  const database = new Client({ connectionString })
  await database.connect()
  const others = "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'"
  const cut = await database.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
  await database.end()
  return cut.rowCount
}

test('OUT-02 OUT-03 a library in the service cannot connect out, while the service works', async (t) => {
  const mailbox = await openMailbox()
  t.after(() => mailbox.close())
  const traces = await startTraceReceiver()
  t.after(traces.close)
  const webhooks = await startWebhookReceiver()
  t.after(webhooks.close)
  const { service, callers } = await startWithLibrary(t, {
    SMTP_URL: mailbox.url.replace('127.0.0.1', 'localhost'),
    MAIL_FROM: 'id@example.com',
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint,
  })
  assertNoWayOut(await tryEveryWay(service, service.process.pid))

  const { headers, identityId } = await signIn(service)
  const identity = `${service.baseUrl}/api/identities/${identityId}`
  await send(`${identity}/email`, { email: 'ada@example.com' }, headers)
  const verified = await send(`${identity}/email/verify`, { code: codeIn(await mailbox.take()) }, headers)
  assert.equal(verified.emailVerified, true)

  const apps = `${service.baseUrl}/api/admin/apps`
  const app = await send(apps, { name: 'Shop', redirectUris: ['https://shop.example/'] }, service.admin)
  await send(`${apps}/${app.clientId}/webhook`, { url: webhooks.url }, service.admin, 'PUT')
  await send(`${apps}/${app.clientId}/webhook/test`, {}, service.admin)
  await webhooks.has(1)

  assertNoWayOut(await tryEveryWay(service, service.process.pid))
  assert.equal(callers(), 0)
  assert.equal(await service.end('SIGTERM'), 0)
  assert.ok(traces.spans.length > 0)
})

test('OUT-04 a blocked destination is named in the log, once', async (t) => {
  const { service } = await startWithLibrary(t)
  await tryEveryWay(service, service.process.pid)
  await tryEveryWay(service, service.process.pid)
  assert.equal(await service.end('SIGTERM'), 0)
  const lines = service
    .output()
    .split('\n')
    .filter((line) => line.includes('"outbound connection blocked"'))
  const destinations = lines.map((line) => JSON.parse(line).destination)
  assert.equal(new Set(destinations).size, destinations.length)
  for (const name of ['127.0.0.1', 'localhost', 'a.example', 'c.example']) assert.ok(destinations.includes(name), name)
  assert.match(lines.find((line) => line.includes('a.example')) ?? '', /library\.mjs/)
})

test('OUT-02 OUT-03 outbound connections are blocked under the flags of the image', async (t) => {
  const command = (await readDockerfile()).find(({ word }) => word === 'CMD')?.rest ?? ''
  const flags = [...command.matchAll(/"(--[^"]+)"/g)].map(([, flag = '']) => flag)
  const { service, callers } = await startWithLibrary(t, {}, flags)
  assertNoWayOut(await tryEveryWay(service, service.process.pid))
  await signIn(service)
  assert.equal(callers(), 0)
  assert.equal(await service.end('SIGTERM'), 0)
})

if (isShared)
  test('OUT-03 a database connection that was cut is opened again', async (t) => {
    const { service } = await startWithLibrary(t)
    await signIn(service)
    const cut = await cutConnections(service.settings.DATABASE_URL)
    const lost = (output: string) => output.split('"database connection lost"').length - 1
    await service.wrote((output) => lost(output) === cut)
    await signIn(service)
  })

if (isShared)
  test('OUT-02 OUT-03 outbound connections are blocked in every worker and in the main process', async (t) => {
    const { service, callers } = await startWithLibrary(t, { WORKERS: '2', LOG_LEVEL: 'info' })
    await service.wrote((output) => workersOf(output).length === 2)
    for (const pid of [service.process.pid, ...workersOf(service.output())])
      assertNoWayOut(await tryEveryWay(service, pid))
    await signIn(service)
    assert.equal(callers(), 0)
    assert.equal(await service.end('SIGTERM'), 0)
  })
