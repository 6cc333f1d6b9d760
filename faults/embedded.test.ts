import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readdir, rm, truncate } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { spawnSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { end, freePorts, launch, startService, type Service } from '../server/testing/service.ts'
import { registerApp, registerTestUser } from './load/test-user.ts'
import { exchange } from './load/exchange.ts'
import { rounds } from './load/throughput.ts'
import { beginLoad, findLostUpdates } from './load/load.ts'

/** Copies the data of a service that was killed while it worked. */
async function copyOfKilled(t: TestContext): Promise<string> {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const { stop } = await beginLoad(service)
  await wait(500)
  service.process.kill('SIGKILL')
  await stop()
  await service.end('SIGKILL')
  const copy = await mkdtemp(join(tmpdir(), 'countersign-'))
  await cp(service.settings.DATA_DIR, copy, { recursive: true })
  return copy
}

const segmentBytes = 16 * 1024 * 1024

for (const [what, bytesLeft] of [
  ['everything', 0],
  ['its second half', segmentBytes / 2],
  ['its last page', segmentBytes - 8192],
] as const)
  test(`STO-17 a log without ${what} is rejected or recovered, and nothing wrong is served`, async (t) => {
    const directory = await copyOfKilled(t)
    t.after(() => rm(directory, { recursive: true, force: true }))
    const log = join(directory, 'database', 'pg_wal')
    const segments = (await readdir(log)).filter((name) => /^[0-9A-F]{24}$/.test(name))
    const newest = segments.toSorted().at(0) ?? ''
    await truncate(join(log, newest), bytesLeft)

    const started = await startService({ dataDirectory: directory }).catch((error: Error) => error)
    if (started instanceof Error) {
      t.diagnostic(`refused: ${started.message}`)
      return assert.match(started.message, /: DATA_DIR contains a database that cannot be opened [^\n]*\n$/)
    }
    t.diagnostic('recovered')
    assert.equal((await exchange(`${started.baseUrl}/readyz`))?.status, 200)
    await started.close()
  })

test('STO-21 without file descriptors the service ends if it must, and loses nothing', async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const load = await beginLoad(service, { customers: 4 })
  const ended = once(service.process, 'close')
  assert.ok(limitFiles(service, 96))
  const { hostname, port } = new URL(service.baseUrl)
  const sockets = Array.from({ length: 200 }, () => connect(Number(port), hostname).on('error', () => {}))
  await wait(1500)
  await load.stop().catch((error: Error) => assert.fail(`${error.message}\n${service.output()}`))
  for (const socket of sockets) socket.destroy()
  limitFiles(service, 4096)
  const reply = await exchange(`${service.baseUrl}/readyz`)
  if (reply) assert.equal(reply.status, 200)
  else {
    // It has ended, which this process may learn later than that there is no answer.
    const [exitCode] = await ended
    t.diagnostic(`exit code ${exitCode}`)
    assert.equal(exitCode, 70)
    assert.match(service.output(), /The embedded database has given up/)
    await service.restart()
    assert.equal((await exchange(`${service.baseUrl}/readyz`))?.status, 200)
  }
  for (const customer of load.customers)
    assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
})

test('STO-21 without memory the service ends if it must, and loses nothing', async (t) => {
  const service = await startService({ environment: { RATE_LIMITS: 'off' } })
  t.after(() => service.close())
  const load = await beginLoad(service, { customers: 4 })
  await wait(500)
  const ended = new Promise((resolve) => service.process.once('close', resolve))
  // It uses more already, so every further allocation fails.
  limitMemory(service, dataBytes(service) / 2)
  await Promise.race([ended, wait(10_000)])
  await load.stop()
  t.diagnostic(`ended by ${service.process.signalCode ?? service.process.exitCode ?? 'nothing'}`)
  await service.end('SIGKILL')
  await service.restart()
  assert.equal((await exchange(`${service.baseUrl}/readyz`))?.status, 200)
  for (const customer of load.customers)
    assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
})

test(`STO-02 kill -9 during the first start (${rounds} times): the next start completes it`, async (t) => {
  for (let round = 1; round <= rounds; round += 1) {
    const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
    t.after(() => rm(directory, { recursive: true, force: true }))
    const [api, auth, business] = await freePorts(3)
    const urls = {
      BASE_URL: `http://localhost:${api}`,
      AUTH_URL: `http://localhost:${auth}`,
      BUSINESS_URL: `http://localhost:${business}`,
    }
    const first = launch({ ...urls, PATH: process.env['PATH'] ?? '', DATA_DIR: directory })
    const killed = first.ready.catch((error: Error) => error)
    setTimeout(() => first.process.kill('SIGKILL'), 50 + Math.random() * 3000)
    await killed
    await end(first.process, 'SIGKILL')

    const service = await startService({ dataDirectory: directory, environment: { RATE_LIMITS: 'off' } })
    const customer = await registerTestUser(service, await registerApp(service))
    const family = await customer.consent()
    assert.ok(family)
    assert.equal((await customer.redeem(family))?.status, 200)
    await service.close()
  }
})

/** Limits the data memory of a running process. */
function limitMemory(service: Service, bytes: number): void {
  const { status, stderr } = spawnSync('prlimit', ['--pid', String(service.process.pid), `--data=${bytes}:`])
  assert.equal(status, 0, String(stderr))
}

function dataBytes({ process: { pid } }: Service): number {
  return Number(/VmData:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024
}

/** Limits the open files and connections of a running process. Returns false if it has ended. */
function limitFiles(service: Service, count: number): boolean {
  return spawnSync('prlimit', ['--pid', String(service.process.pid), `--nofile=${count}:`]).status === 0
}
