import assert from 'node:assert/strict'
import cluster from 'node:cluster'
import { once } from 'node:events'
import { request } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { openTestDatabase } from '#testing/database.ts'
import { createLog } from '#platform/observability/log.ts'
import { startWorkers, WorkerExitError } from '#platform/process/workers.ts'
import { createAuthenticator } from '#testing/authenticator.ts'
import { freePorts, launch, startService, testAdminToken, workersOf, type Service } from '#testing/service.ts'

const several = { WORKERS: '2', LOG_LEVEL: 'info' }

test('several processes on the embedded database are rejected with one line that says what to do', async () => {
  const { ready, output, process: child } = launch({ PATH: process.env['PATH'] ?? '', WORKERS: '2' })
  await assert.rejects(ready)
  assert.equal(child.exitCode, 1)
  assert.match(output(), /^WORKERS must be 1[^\n]*Set DATABASE_URL[^\n]*\n$/)
})

test('a worker that cannot be started is reported like one that ends at once', async (t) => {
  t.after(() => cluster.setupPrimary({ cwd: process.cwd() }))
  cluster.setupPrimary({ cwd: join(import.meta.dirname, 'missing') })
  const { log } = createLog('silent')
  const started = startWorkers({ count: 1, log, onGivingUp: () => assert.fail('no worker was ready') })
  await assert.rejects(started, WorkerExitError)
})

if (process.env['TEST_DATABASE_URL'] !== undefined) {
  test('a start with several processes is announced once, and all of them serve', async (t) => {
    const service = await serveWithTwo(t)
    assert.equal(service.output().match(/is ready\./g)?.length, 1)
    assert.match(service.output(), /"processes":2/)
    for (let count = 0; count < 8; count += 1)
      assert.equal((await fetch(`${service.authUrl}/readyz`, { headers: { connection: 'close' } })).status, 200)
    assert.equal(await service.end('SIGTERM'), 0)
  })

  test('every worker shows the mails of all workers, also one that was started later', async (t) => {
    const service = await serveWithTwo(t)
    const authenticator = createAuthenticator({ origin: service.authUrl, rpId: 'localhost' })
    const send = async (path: string, body: object, headers = {}) => {
      // Over a new connection, so that any worker may receive it.
      const sent = { 'content-type': 'application/json', connection: 'close', ...headers }
      const answer = await fetch(service.baseUrl + path, { method: 'POST', headers: sent, body: JSON.stringify(body) })
      return JSON.parse(await answer.text())
    }
    const { flowId, options } = await send('/api/auth/register/start', { handle: 'ada', displayName: 'Ada' })
    const finish = { flowId, credential: authenticator.register(options) }
    const { sessionToken, identities } = await send('/api/auth/register/finish', finish)
    const session = { authorization: `Bearer ${sessionToken}` }
    const recipients = ['a@example.com', 'b@example.com', 'c@example.com']
    for (const email of recipients) await send(`/api/identities/${identities[0].identityId}/email`, { email }, session)

    const listed = async (): Promise<string> => {
      const answer = await fetch(`${service.authUrl}/dev/mail/messages`, { headers: { connection: 'close' } })
      return JSON.parse(await answer.text())
        .mails.map(({ to }: { to: string }) => to)
        .join()
    }
    const isEverywhere = async () => {
      const lists = await Promise.all(Array.from({ length: 12 }, listed))
      return lists.every((list) => list === recipients.toReversed().join())
    }
    while (!(await isEverywhere())) await service.wrote(() => true)
    const pids = workersOf(service.output())
    kill(pids, 'SIGKILL')
    await service.wrote((output) => workersOf(output).length === pids.length * 2)
    assert.ok(await isEverywhere())
  })

  test('STO-01 kill -9 of a worker loses nothing that was acknowledged, and the service continues', async (t) => {
    const service = await serveWithTwo(t)
    const acknowledged: string[] = []
    const stopped = new AbortController()
    const writing = Array.from({ length: 8 }, async (_, writer) => {
      for (let count = 0; !stopped.signal.aborted; count += 1) {
        const clientId = await createApp(service, `App ${writer}.${count}`)
        if (clientId) acknowledged.push(clientId)
      }
    })
    for (let round = 0; round < 3; round += 1) {
      const pids = workersOf(service.output())
      kill(pids.slice(-1), 'SIGKILL')
      await service.wrote((output) => workersOf(output).length > pids.length)
    }
    const soFar = acknowledged.length
    await until(service, () => acknowledged.length > soFar + 20)
    stopped.abort()
    await Promise.all(writing)

    const lost: string[] = []
    for (const clientId of acknowledged) {
      const kept = await fetch(`${service.baseUrl}/api/admin/apps/${clientId}`, { headers: service.admin })
      if (kept.status !== 200) lost.push(clientId)
      await kept.body?.cancel()
    }
    assert.deepEqual(lost, [])
    assert.equal(await service.end('SIGTERM'), 0)
  })

  test('STO-01 metrics that are read while workers die do not end the service', async (t) => {
    const [metricsPort = 0] = await freePorts(1)
    const service = await serveWithTwo(t, { METRICS_PORT: String(metricsPort) })
    const reader = await openConnection(t, metricsPort, '/metrics')
    const user = await openConnection(t, Number(new URL(service.authUrl).port), '/healthz')
    const pids = workersOf(service.output())
    // So that the request arrives before the primary learns that its workers are gone.
    service.process.kill('SIGSTOP')
    await reader.send()
    const disconnected = once(user.socket, 'close')
    kill(pids, 'SIGKILL')
    await disconnected
    service.process.kill('SIGCONT')
    await service.wrote((output) => workersOf(output).length === pids.length * 2)
    assert.equal((await fetch(`http://localhost:${metricsPort}/metrics`)).status, 200)
    assert.equal(await service.end('SIGTERM'), 0)
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`STO-20 ${signal} to every process answers pending requests and exits with 0`, async (t) => {
      const service = await serveWithTwo(t)
      const slow = Array.from({ length: 6 }, () => beginRegistration(service))
      await Promise.all(slow.map(({ arrived }) => arrived))
      const ended = service.end(signal)
      kill(workersOf(service.output()), signal)
      await refusal(`${service.baseUrl}/healthz`)
      assert.deepEqual(await Promise.all(slow.map(({ finish }) => finish())), Array<number>(6).fill(200))
      assert.equal(await ended, 0)
    })

  test('workers that end at once end the service, so that its supervisor notices', async (t) => {
    const { settings, database } = await prepareTwo()
    const doomed = launch(settings)
    t.after(() => void doomed.process.kill('SIGKILL'))
    await doomed.ready
    await doomed.wrote((output) => workersOf(output).length === 2)
    await database.drop()
    kill(workersOf(doomed.output()), 'SIGKILL')
    await once(doomed.process, 'close')
    assert.equal(doomed.process.exitCode, 1)
    assert.match(doomed.output(), /"workers crash-looping, giving up"/)
    assert.match(doomed.output(), /"exitCode":[1-9]\d*,"signal":null,[^\n]*"worker exited"/)
  })

  test('a worker ends with its primary', async (t) => {
    const service = await serveWithTwo(t)
    await service.end('SIGKILL')
    await refusal(`${service.baseUrl}/healthz`)
    for (const pid of workersOf(service.output())) await until(service, () => !lives(pid))
  })

  test('a problem of all workers is reported once', async (t) => {
    const { settings, database, port } = await prepareTwo()
    const taker = createServer().listen(port)
    t.after(async () => {
      taker.close()
      await database.drop()
    })
    await once(taker, 'listening')
    const { ready, output, process: child } = launch(settings)
    await assert.rejects(ready)
    assert.equal(child.exitCode, 1)
    assert.equal(output(), `Port ${port} is in use: ${remedy}\n`)
  })

  test('JWT-14 STO-19 processes that start concurrently on an empty database agree on schema and keys', async (t) => {
    const { settings, database } = await prepareTwo()
    const origins = (await freePorts(3)).map((port) => `http://localhost:${port}`)
    const started = origins.map((origin) => launch({ ...settings, ...onOneHost(origin), WORKERS: '1' }))
    t.after(async () => {
      for (const each of started) each.process.kill('SIGKILL')
      await database.drop()
    })
    await Promise.all(started.map(({ ready }) => ready))
    const keySets = await Promise.all(
      origins.map(async (origin) => (await fetch(`${origin}/.well-known/jwks.json`)).text()),
    )
    assert.equal(new Set(keySets).size, 1)
  })
}

const remedy = 'stop what listens there, or set another port in the URLs.'

function onOneHost(origin: string) {
  return { BASE_URL: origin, AUTH_URL: origin, BUSINESS_URL: origin }
}

async function serveWithTwo(t: TestContext, environment: Record<string, string> = {}): Promise<Service> {
  const service = await startService({ environment: { ...several, ...environment } })
  t.after(() => service.close())
  await service.wrote((output) => workersOf(output).length === 2)
  return service
}

/** Prepares one port and an empty database for a service with several processes. */
async function prepareTwo() {
  const [[port], database] = await Promise.all([freePorts(1), openTestDatabase({ isEmpty: true })])
  assert.ok(database)
  const settings = {
    ...several,
    ...onOneHost(`http://localhost:${port}`),
    PATH: process.env['PATH'] ?? '',
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    DATABASE_URL: database.url,
    ADMIN_TOKEN: testAdminToken,
    SECRET_KEY: 'a-secret-key-for-tests-of-32-characters',
  }
  return { settings, database, port }
}

function kill(pids: number[], signal: NodeJS.Signals): void {
  assert.ok(pids.length > 0 && !pids.includes(0))
  for (const pid of pids) process.kill(pid, signal)
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Opens a connection that stays open, after its first response. */
async function openConnection(t: TestContext, port: number, path: string) {
  const socket = connect(port, 'localhost')
  t.after(() => socket.destroy())
  const send = () =>
    new Promise((resolve) => socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost:${port}\r\n\r\n`, resolve))
  await Promise.all([send(), once(socket, 'data')])
  return { socket, send }
}

/** Returns the client ID of an acknowledged app, or undefined if the connection or the process was lost. */
async function createApp({ baseUrl, admin }: Service, name: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${baseUrl}/api/admin/apps`, {
      method: 'POST',
      headers: { ...admin, 'content-type': 'application/json' },
      body: JSON.stringify({ name, redirectUris: ['https://app.example/callback'] }),
    })
    const { clientId }: { clientId: string } = JSON.parse(await answer.text())
    return answer.status === 201 ? clientId : undefined
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

/** Starts a registration with an incomplete body. `arrived` resolves when its connection is open. */
function beginRegistration({ baseUrl }: Service) {
  const handle = `slow-${Math.random().toString(36).slice(2, 12).padEnd(10, '0')}`
  const body = JSON.stringify({ handle, displayName: 'Slow Sue' })
  const sent = request(`${baseUrl}/api/auth/register/start`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', 'content-length': body.length, expect: '100-continue' },
  })
  sent.flushHeaders()
  const answered = once(sent, 'response')
  return {
    arrived: once(sent, 'continue'),
    async finish(): Promise<number> {
      sent.end(body)
      const [response] = await answered
      response.resume()
      return response.statusCode
    },
  }
}

/** Resolves when the address accepts no more connections. */
async function refusal(url: string): Promise<void> {
  for (;;)
    try {
      await fetch(url, { headers: { connection: 'close' } })
    } catch {
      return
    }
}

/** Resolves when the condition is true. Checks it after every response and output of the service. */
async function until(service: Service, holds: () => boolean): Promise<void> {
  while (!holds()) await fetch(`${service.baseUrl}/healthz`).catch(() => undefined)
}
