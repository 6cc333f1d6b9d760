import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import { test, type TestContext } from 'node:test'
import { openTestDatabase } from '#testing/database.ts'
import { freePorts, launch, startService, workersOf, type Service } from '#testing/service.ts'

const several = { WORKERS: '2', LOG_LEVEL: 'info' }

test('several processes on the embedded database are refused with one line that says what to do', async () => {
  const { ready, output, process: child } = launch({ PATH: process.env['PATH'] ?? '', WORKERS: '2' })
  await assert.rejects(ready)
  assert.equal(child.exitCode, 1)
  assert.match(output(), /^WORKERS must be 1[^\n]*set DATABASE_URL[^\n]*\n$/)
})

if (process.env['TEST_DATABASE_URL'] !== undefined) {
  test('the start with several processes says so once, and all of them serve', async (t) => {
    const service = await serveWithTwo(t)
    assert.equal(service.output().match(/is ready\./g)?.length, 1)
    assert.match(service.output(), /Processes +2/)
    for (let count = 0; count < 8; count += 1)
      assert.equal((await fetch(`${service.authUrl}/readyz`, { headers: { connection: 'close' } })).status, 200)
    assert.equal(await service.end('SIGTERM'), 0)
  })

  test('STO-01 kill -9 of a worker loses nothing that was acknowledged, and the service goes on', async (t) => {
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

    const list = await fetch(`${service.baseUrl}/api/admin/apps`, { headers: service.admin })
    const { apps }: { apps: { clientId: string }[] } = JSON.parse(await list.text())
    const kept = new Set(apps.map(({ clientId }) => clientId))
    assert.deepEqual(
      acknowledged.filter((clientId) => !kept.has(clientId)),
      [],
    )
    assert.equal(await service.end('SIGTERM'), 0)
  })

  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    test(`STO-20 ${signal} to every process answers what was asked, and ends with 0`, async (t) => {
      const service = await serveWithTwo(t)
      const slow = Array.from({ length: 6 }, () => beginRegistration(service))
      await Promise.all(slow.map(({ arrived }) => arrived))
      const ended = service.end(signal)
      kill(workersOf(service.output()), signal)
      await refusal(`${service.baseUrl}/healthz`)
      assert.deepEqual(await Promise.all(slow.map(({ finish }) => finish())), Array<number>(6).fill(200))
      assert.equal(await ended, 0)
    })

  test('workers that end as soon as they are started end the service, so that its supervisor notices', async (t) => {
    const service = await serveWithTwo(t)
    const database = await openTestDatabase()
    const [port] = await freePorts(1)
    assert.ok(database)
    const doomed = launch({ ...service.settings, DATABASE_URL: database.url, ...onePort(port) })
    t.after(() => void doomed.process.kill('SIGKILL'))
    await doomed.ready
    await doomed.wrote((output) => workersOf(output).length === 2)
    await database.drop()
    kill(workersOf(doomed.output()), 'SIGKILL')
    await once(doomed.process, 'close')
    assert.equal(doomed.process.exitCode, 1)
    assert.match(doomed.output(), /"the workers end as soon as they are started"/)
  })

  test('a worker outlives its primary by no time', async (t) => {
    const service = await serveWithTwo(t)
    await service.end('SIGKILL')
    await refusal(`${service.baseUrl}/healthz`)
    for (const pid of workersOf(service.output())) await until(service, () => !lives(pid))
  })

  test('what stands in the way of all workers is said once', async (t) => {
    const service = await serveWithTwo(t)
    const [api, auth] = await freePorts(2)
    const {
      ready,
      output,
      process: child,
    } = launch({
      ...service.settings,
      BASE_URL: `http://localhost:${api}`,
      AUTH_URL: `http://localhost:${auth}`,
    })
    await assert.rejects(ready)
    assert.equal(child.exitCode, 1)
    assert.equal(output(), `Port ${new URL(service.businessUrl).port} is in use: ${howToMend}\n`)
  })
}

const howToMend = 'stop what listens there, or set another port in the URLs.'

async function serveWithTwo(t: TestContext): Promise<Service> {
  const service = await startService({ environment: several })
  t.after(() => service.close())
  await service.wrote((output) => workersOf(output).length === 2)
  return service
}

/** Settings with which all hosts share one port. */
function onePort(port: number | undefined) {
  const origin = `http://localhost:${port}`
  return { BASE_URL: origin, AUTH_URL: origin, BUSINESS_URL: origin }
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

/** The client id of an app that was acknowledged; undefined where the connection or the process was lost meanwhile. */
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

/** A registration whose body is on its way; `arrived` when its connection stands. */
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

/** Resolves when the address takes no connection any more. */
async function refusal(url: string): Promise<void> {
  for (;;)
    try {
      await fetch(url, { headers: { connection: 'close' } })
    } catch {
      return
    }
}

/** Resolves when the condition holds; looks again whenever the service answers or writes. */
async function until(service: Service, holds: () => boolean): Promise<void> {
  while (!holds()) await fetch(`${service.baseUrl}/healthz`).catch(() => undefined)
}
