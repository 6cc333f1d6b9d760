import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { startService, type Service } from '../server/testing/service.ts'
import { type Cluster, startPostgres } from '../tools/postgres.ts'
import { childrenOf, until } from './harness/process.ts'
import { beginLoad, findLostUpdates } from './load/load.ts'
import { describeMemory, inspectable, type Memory, measureMemory } from './load/memory.ts'
import { beginProbing } from './load/probes.ts'
import { registerSigner } from './load/signer.ts'
import { registerApp, type TestUser } from './load/test-user.ts'
import { soakSeconds } from './load/throughput.ts'

const cycles = 30
const cycleMilliseconds = (soakSeconds * 1000) / cycles
const customers = 12
/** Requests wait this long at most after a fault, until all connections are open again. */
const settlingMilliseconds = 5000
const p99MillisecondsMax = 150
const growthMax = 1.2
/** The share of the cycles after which the service is warm. */
const warmUp = 0.2

/** Faults, one in every second cycle. Each returns when the service is ready again. */
const faults: Record<string, (cluster: Cluster, service: Service) => Promise<void>> = {
  async 'the database is killed'(cluster, { baseUrl }) {
    await cluster.stop()
    await until(`${baseUrl}/readyz`, 503)
    await cluster.start()
  },
  async 'the database is frozen'({ pid }) {
    const frozen = [pid, ...childrenOf(pid)]
    for (const each of frozen) process.kill(each, 'SIGSTOP')
    await wait(2000)
    for (const each of frozen) process.kill(each, 'SIGCONT')
  },
}

test(`LOD-01 ${soakSeconds} s at half of the peak load, with faults, lose nothing and hold no memory`, async (t) => {
  await using started = new AsyncDisposableStack()
  const cluster = started.use(await startPostgres({ durable: true }))
  process.env['TEST_DATABASE_URL'] = cluster.url
  const service = await startService({ environment: { RATE_LIMITS: 'off', LOG_LEVEL: 'error', ...inspectable } })
  // It ends before the database, whose rows are verified then.
  started.defer(() => service.close())
  const peak = await measurePeak(service)
  // With one and a half times its duration at the peak as a rest, a turn takes twice as long.
  const restMilliseconds = (1500 * customers) / peak
  const signing = await beginSigning(service)
  const probes = beginProbing(service.baseUrl)
  const disturbed: [from: number, to: number][] = []
  const counts = { turns: 0, lost: 0 }
  let warm: Memory | undefined
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    if (cycle === cycles * warmUp) warm = await measureMemory(service)
    const load = await beginLoad(service, { customers, restMilliseconds })
    await wait(cycleMilliseconds / 2)
    if (cycle % 2 === 1) disturbed.push(await disturb(service, cluster, cycle))
    await wait(cycleMilliseconds / 2)
    await load.stop()
    counts.turns += load.turns()
    counts.lost += await verify(load.customers, cycle % 2 === 1)
  }
  const answers = await probes.stop()
  await signing.stop()
  const end = await measureMemory(service)

  const isDisturbed = (at: number) => disturbed.some(([from, to]) => at > from && at < to)
  const regular = answers.filter(({ sentAt, answeredAt }) => !isDisturbed(sentAt) && !isDisturbed(answeredAt))
  const slowest = report(t, regular)
  t.diagnostic(`${peak.toFixed(0)} turns a second at the peak; ${counts.turns} turns, ${counts.lost} answers unknown`)
  for (const each of [warm, end]) if (each) t.diagnostic(describeMemory(each))
  assert.deepEqual([...new Set(regular.map(({ status }) => status))], [200])
  assert.ok(answers.every(({ status }) => status === 200 || status === 503))
  assert.ok(slowest < p99MillisecondsMax, `one request of a hundred takes ${slowest} ms`)
  assert.ok(warm && end.heldBytes < warm.heldBytes * growthMax, `${end.heldBytes} bytes are held; ${warm?.heldBytes}`)
})

/** Returns the turns a second of users who do not rest. */
async function measurePeak(service: Service): Promise<number> {
  const load = await beginLoad(service, { customers })
  await wait(cycleMilliseconds)
  await load.stop()
  return (load.turns() / cycleMilliseconds) * 1000
}

/** Causes a fault. Returns the time in which requests may fail. */
async function disturb(service: Service, cluster: Cluster, cycle: number): Promise<[from: number, to: number]> {
  const all = Object.values(faults)
  const from = performance.now()
  await all[((cycle - 1) / 2) % all.length]?.(cluster, service)
  await until(`${service.baseUrl}/readyz`, 200)
  return [from, performance.now() + settlingMilliseconds]
}

/** Checks what these users were acknowledged. Returns the number of requests without an answer, which need a fault. */
async function verify(users: TestUser[], isAfterFault: boolean): Promise<number> {
  const unknown = users.reduce((sum, { counts }) => sum + counts.unknown, 0)
  if (!isAfterFault) assert.deepEqual([unknown, users.flatMap(refusalsOf)], [0, []])
  for (const user of users) assert.deepEqual(await findLostUpdates(user), [], user.history.join('\n'))
  return unknown
}

function refusalsOf({ history }: TestUser): string[] {
  return history.filter((line) => line.includes(': fail'))
}

/** Signs one text after another until it is stopped, and checks all of them. */
async function beginSigning(service: Service) {
  const signer = await registerSigner(service, await registerApp(service))
  const stopped = new AbortController()
  const signing = (async () => {
    while (!stopped.signal.aborted) {
      const request = await signer.ask(`Order ${randomUUID()}`)
      if (request) await signer.sign(request)
      await wait(500)
    }
  })()
  // Handled from the start: a failure must not become an unhandled rejection before it is awaited.
  signing.catch(() => {})
  return {
    async stop(): Promise<void> {
      stopped.abort()
      await signing
      assert.deepEqual(await signer.findLostUpdates(), [], signer.history.join('\n'))
    },
  }
}

/** Reports the delays of requests. Returns the 99th percentile in milliseconds. */
function report(t: TestContext, answers: { sentAt: number; answeredAt: number }[]): number {
  const taken = answers.map(({ sentAt, answeredAt }) => answeredAt - sentAt).toSorted((a, b) => a - b)
  const at = (share: number) => Math.round((taken[Math.floor(taken.length * share)] ?? Infinity) * 10) / 10
  t.diagnostic(`${taken.length} requests outside of faults: median ${at(0.5)} ms, p99 ${at(0.99)} ms`)
  return at(0.99)
}
