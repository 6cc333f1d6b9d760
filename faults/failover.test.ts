import assert from 'node:assert/strict'
import { type TestContext, after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { type Service, startService } from '../server/testing/service.ts'
import type { DatabaseNode } from './harness/database-node.ts'
import { type FailoverCluster, startFailoverCluster } from './harness/failover-cluster.ts'
import { withoutStalls } from './harness/stalls.ts'
import { beginLoad, findLostUpdates, findResurrectedTokens } from './load/load.ts'
import { beginProbing } from './load/probes.ts'
import type { TestUser } from './load/test-user.ts'
import { rounds } from './load/throughput.ts'

const outageAnswerMillisecondsMax = 2000
/** The service gives up a statement after six seconds. Changes wait for a replica that comes back and goes again. */
const answerMillisecondsMax = 7000
const outageMillisecondsMax = 30_000

let cluster: FailoverCluster
let service: Service
before(async () => {
  cluster = await startFailoverCluster()
  process.env['TEST_DATABASE_URL'] = cluster.url
  await onNode(await cluster.primary(), (client) => client.query('create table written_to_former (row_id int)'))
  service = await startService({ environment: { RATE_LIMITS: 'off', LOG_LEVEL: 'error' } })
})
after(async () => {
  await service.close()
  await cluster[Symbol.asyncDispose]()
})

type Fault = { strike: (primary: DatabaseNode) => Promise<void> | void; repair: (former: DatabaseNode) => void }

const faults: Record<string, Fault> = {
  'is switched over': { strike: () => cluster.switchOver(), repair: () => {} },
  'is killed': { strike: (primary) => primary.kill(), repair: (former) => former.start() },
  'is frozen': { strike: (primary) => primary.freeze(), repair: (former) => former.thaw() },
  'is isolated': { strike: (primary) => primary.isolate(), repair: (former) => former.reconnect() },
}

for (const [what, fault] of Object.entries(faults))
  test(`STO-46 STO-47 a primary that ${what} under load (${rounds} times) is replaced without a loss`, async (t) => {
    const everybody: TestUser[] = []
    const outages: Outage[] = []
    for (let round = 1; round <= rounds; round += 1) {
      const { customers, outage } = await failOver(t, fault)
      for (const customer of customers)
        assert.deepEqual(await findLostUpdates(customer), [], `round ${round}\n${customer.history.join('\n')}`)
      everybody.push(...customers)
      outages.push(outage)
    }
    for (const customer of everybody)
      assert.deepEqual(await findResurrectedTokens(customer), [], customer.history.join('\n'))
    const written = await onNode(await cluster.primary(), (client) => client.query('select from written_to_former'))
    assert.deepEqual(written.rows, [], 'what a former primary has written is nowhere')
    for (const line of describe(everybody, outages)) t.diagnostic(line)
  })

type Outage = {
  /** Time until the service writes again, without stalls. */
  seconds: number
  /** Milliseconds of the slowest rejection until then, and of the slowest answer after it. */
  rejection: number
  later: number
  /** Number of sign-ins, redeemed codes and rotated refresh tokens that the service acknowledged under load. */
  changes: number
}

/** Strikes the primary under load, and repairs it when the service writes again. */
async function failOver(t: TestContext, { strike, repair }: Fault) {
  const load = await beginLoad(service, { customers: 4, restMilliseconds: 50 })
  const probes = beginProbing(service.baseUrl)
  t.after(async () => {
    await probes.stop()
    await load.stop()
  })
  const primary = await cluster.primary()
  const client = await connect(primary)
  await wait(500 + Math.random() * 1000)

  const struckAt = performance.now()
  await strike(primary)
  const isReadOnly = expectNoWrite(primary, client)
  await cluster.primary(primary)
  const servedAt = await probes.nextSuccess()
  repair(primary)
  await isReadOnly
  await cluster.untilWhole()
  const answers = await probes.stop()
  await load.stop()

  const rejections = answers.filter(({ status }) => status !== 200)
  assert.ok(rejections.length > 0)
  for (const { status, retryAfter } of rejections) {
    assert.equal(status, 503)
    assert.match(retryAfter, /^\d+$/)
  }
  const rejection = await slowestOf(rejections.filter(({ sentAt }) => sentAt < servedAt))
  assert.ok(rejection < outageAnswerMillisecondsMax, `a 503 took ${rejection} ms`)
  const later = await slowestOf(answers.filter(({ sentAt }) => sentAt >= servedAt))
  assert.ok(later < answerMillisecondsMax, `an answer took ${later} ms while the former primary returned`)
  const [outage = Infinity] = await withoutStalls([{ from: struckAt, to: servedAt }])
  assert.ok(outage < outageMillisecondsMax, `the service writes again after ${outage} ms`)
  const changes = load.customers.reduce((count, customer) => count + countChanges(customer), 0)
  return { customers: load.customers, outage: { seconds: outage / 1000, rejection, later, changes } }
}

function countChanges({ sessions, families }: TestUser): number {
  const ofFamilies = families.map(({ redeemed, used }) => used.length + (redeemed === 'yes' ? 1 : 0))
  return ofFamilies.reduce((sum, count) => sum + count, sessions.length)
}

/** Returns the milliseconds of the slowest answer, without stalls. */
async function slowestOf(answers: { sentAt: number; answeredAt: number }[]): Promise<number> {
  const taken = await withoutStalls(answers.map(({ sentAt, answeredAt }) => ({ from: sentAt, to: answeredAt })))
  return Math.round(Math.max(...taken))
}

function describe(everybody: TestUser[], outages: Outage[]): string[] {
  const unknown = everybody.reduce((sum, { counts }) => sum + counts.unknown, 0)
  const slowest = (of: 'rejection' | 'later') => Math.max(...outages.map((outage) => outage[of]))
  const seconds = outages.map((outage) => outage.seconds).toSorted((a, b) => a - b)
  const kept = outages.reduce((sum, { changes }) => sum + changes, 0)
  return [
    `${kept} changes kept; ${unknown} requests got 503 or no response`,
    `writes again after ${seconds.map((each) => each.toFixed(1)).join(', ')} s`,
    `slowest 503 ${slowest('rejection')} ms, slowest answer afterwards ${slowest('later')} ms`,
  ]
}

/**
 * Writes to a former primary until it refuses, as a client would that takes it for the primary: over a connection from
 * before, then over new ones. No write may be acknowledged.
 */
async function expectNoWrite(former: DatabaseNode, open: pg.Client): Promise<void> {
  const insert = 'insert into written_to_former values (1)'
  let error = await errorOf(open.query(insert))
  await open.end()
  while (!(error instanceof pg.DatabaseError && error.code === '25006')) {
    assert.ok(error, `${former.name} acknowledged a write`)
    await wait(50)
    error = await errorOf(onNode(former, (client) => client.query(insert)))
  }
}

function errorOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

async function connect(node: DatabaseNode): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: node.url })
  // The statement that fails reports it.
  client.on('error', () => {})
  await client.connect()
  return client
}

async function onNode<Result>(node: DatabaseNode, work: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = await connect(node)
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}
