import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect } from 'node:net'
import pg from 'pg'
import { type Service, startService } from '../server/testing/service.ts'
import { type Cluster, startPostgres } from '../tools/postgres.ts'
import { exchange } from './load/exchange.ts'
import { rounds, seed } from './load/throughput.ts'
import { type Load, beginLoad, findLostUpdates } from './load/load.ts'
import { childrenOf, until } from './harness/process.ts'
import { type Proxy, openProxy } from './harness/proxy.ts'
import { timed } from './harness/stalls.ts'

/** A temporary cluster, to be stopped and frozen; and a proxy in front of it. */
let cluster: Cluster
let proxy: Proxy
let service: Service
before(async () => {
  cluster = await startPostgres({ durable: true })
  process.env['TEST_DATABASE_URL'] = cluster.url
  service = await startService({ environment: { RATE_LIMITS: 'off' } })
  proxy = await openProxy(service.settings.DATABASE_URL ?? '', seed)
  await service.end()
  service.settings.DATABASE_URL = proxy.url
  await service.restart()
})
after(async () => {
  await service.close()
  await proxy.close()
  await cluster[Symbol.asyncDispose]()
})

/** Scales a duration or a number of the short form to the long one. */
const lengthened = (short: number) => short * Math.max(1, Math.round(rounds / 4))

async function verify(t: TestContext, { customers, stop }: Load): Promise<void> {
  await stop()
  for (const customer of customers) assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
  const sum = (outcome: 'ok' | 'fail' | 'unknown') => customers.reduce((count, each) => count + each.counts[outcome], 0)
  t.diagnostic(`${sum('ok')} ok, ${sum('fail')} rejected, ${sum('unknown')} without a response or 503`)
}

/** Requests a path of the service until it gets this status. */
const untilAt = (path: string, status: number) => until(service.baseUrl + path, status)

test('STO-06 STO-16 while PostgreSQL is stopped every response is a fast 503, and the service recovers', async (t) => {
  const load = await beginLoad(service)
  await wait(1000)
  await cluster.stop()
  const away = await untilAt('/readyz', 503)
  const session = { authorization: `Bearer ${load.customers[0]?.sessions[0]}` }
  for (const path of ['/api/auth/session', '/api/identities', '/api/oauth/authorizations', '/api/account/key-wraps']) {
    const { result: reply, milliseconds } = await timed(() => exchange(service.baseUrl + path, { headers: session }))
    assert.equal(reply?.status, 503, path)
    assert.equal(reply.body['error'], 'temporarily_unavailable')
    assert.match(reply.headers.get('retry-after') ?? '', /^\d+$/)
    assert.ok(milliseconds < 2000, `${path} took ${milliseconds} ms`)
  }
  assert.equal((await exchange(`${service.baseUrl}/healthz`))?.status, 200)
  await wait(lengthened(3000))
  await cluster.start()
  const back = await untilAt('/readyz', 200)
  t.diagnostic(`not ready after ${away.milliseconds} ms, ready ${back.milliseconds} ms after the start of PostgreSQL`)
  assert.ok(away.milliseconds < 2000)
  assert.ok(back.milliseconds < 5000)
  await verify(t, load)
})

test('STO-07 while PostgreSQL is frozen statements time out, probes respond, and it recovers', async (t) => {
  const load = await beginLoad(service)
  await wait(500)
  const frozen = [cluster.pid, ...childrenOf(cluster.pid)]
  for (const pid of frozen) process.kill(pid, 'SIGSTOP')
  const away = await untilAt('/readyz', 503)
  const alive = await untilAt('/healthz', 200)
  await wait(lengthened(2000))
  for (const pid of frozen) process.kill(pid, 'SIGCONT')
  const back = await untilAt('/readyz', 200)
  t.diagnostic(
    `503 after ${away.milliseconds} ms; /healthz in ${Math.round(alive.slowest)} ms; back in ${back.milliseconds} ms`,
  )
  assert.ok(away.milliseconds < 8000)
  assert.ok(alive.slowest < 500)
  assert.ok(back.milliseconds < 5000)
  await verify(t, load)
})

test('connections that become silent are replaced', async (t) => {
  const load = await beginLoad(service)
  await wait(300)
  proxy.freeze()
  await wait(500)
  const back = await untilAt('/readyz', 200)
  t.diagnostic(`ready again after ${back.milliseconds} ms`)
  assert.ok(back.milliseconds < 8000)
  await wait(1000)
  await verify(t, load)
})

test('STO-08 connections that PostgreSQL ends every second break nothing', async (t) => {
  const load = await beginLoad(service)
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  const expiresAt = Date.now() + lengthened(4000)
  while (Date.now() < expiresAt) {
    await wait(1000)
    await client.query("select pg_terminate_backend(pid) from pg_stat_activity where datname like 'countersign_%'")
  }
  await client.end()
  assert.equal((await untilAt('/readyz', 200)).reply.status, 200)
  await verify(t, load)
})

const writesOnce = ['commit', 'redeem code', 'rotate refresh token']

test('STO-09 a response that is lost after the commit is a 503, and nothing is consumed twice', async (t) => {
  const load = await beginLoad(service)
  const before = proxy.struck()
  proxy.strike({ words: writesOnce, share: 0.2, what: 'cut the answer' })
  await wait(lengthened(3000))
  proxy.strike(undefined)
  t.diagnostic(`${proxy.struck() - before} answers cut`)
  assert.ok(proxy.struck() > before)
  await verify(t, load)
})

/**
 * So many that the share of writes that give up is known, however slow the machine is: one in 625 gets four conflicts
 * in a row.
 */
const conflicts = lengthened(150)

for (const code of ['40001', '40P01'] as const)
  test(`STO-12 a fifth of the writes get a conflict (${code}), and are retried`, async (t) => {
    const load = await beginLoad(service)
    const before = proxy.struck()
    proxy.strike({ words: writesOnce, share: 0.2, what: { refuseWith: code } })
    await proxy.untilStruck(conflicts)
    proxy.strike(undefined)
    const struck = proxy.struck() - before
    const unknown = load.customers.reduce((count, { counts }) => count + counts.unknown, 0)
    t.diagnostic(`${struck} conflicts, of which ${unknown} got 503`)
    assert.ok(unknown < struck / 20, 'four attempts in a row fail rarely')
    await verify(t, load)
  })

/** Lists the transactions that wait for their next statement, by their connection and start. */
async function idleTransactions(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select concat(pid, ' since ', xact_start, ' after ', query) as name
       from pg_stat_activity where state like 'idle in transaction%'`,
  )
  return rows.map(({ name }) => name)
}

/** Resolves when each transaction that waits now has gone on: that of a job waits for less than a millisecond. */
async function untilTransactionsGoOn(client: pg.Client): Promise<void> {
  let open = await idleTransactions(client)
  for (let looked = 0; open.length > 0 && looked < 1000; looked += 1) {
    const now = await idleTransactions(client)
    open = open.filter((transaction) => now.includes(transaction))
  }
  assert.deepEqual(open, [])
}

test('STO-14 a client that disconnects within its body leaves no transaction open', async () => {
  const { hostname, port } = new URL(service.baseUrl)
  const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname))
  // The response to the first request shows that the head of the second was read.
  const responses = sockets.map((socket) => once(socket, 'data'))
  for (const socket of sockets)
    socket.write(
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n' +
        'POST /api/oauth/token HTTP/1.1\r\nHost: localhost\r\n' +
        'Content-Type: application/json\r\nContent-Length: 999\r\n\r\n{"a',
    )
  for (const [data] of await Promise.all(responses)) assert.match(String(data), /^HTTP\/1\.1 200 /)
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  await untilTransactionsGoOn(client)
  for (const socket of sockets) socket.destroy()
  await untilTransactionsGoOn(client)
  await client.end()
})
