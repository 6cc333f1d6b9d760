import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as pass } from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { createStorage, isReadOnly, transaction } from '../server/platform/database/database.ts'
import { onOwnConnection, serverPool } from '../server/platform/database/server-pool.ts'
import { migrate } from '../server/platform/database/migrate.ts'
import { Secret } from '../server/platform/crypto/secret.ts'
import { openTestDatabase } from '../server/testing/database.ts'
import { untilWaiting } from '../server/testing/lock-waits.ts'
import { timed } from './harness/stalls.ts'

/** Opens a database, a pool for it and a proxy between them that can stop passing anything on. */
async function openDatabase(t: TestContext) {
  const made = await openTestDatabase()
  assert.ok(made)
  const target = new URL(made.url)
  const sockets = new Set<Socket>()
  const proxy = createServer((inner) => {
    const outer = connect(Number(target.port), target.hostname)
    for (const socket of [inner, outer]) sockets.add(socket.on('error', () => {}).on('close', () => inner.destroy()))
    inner.pipe(outer).pipe(inner)
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = new URL(made.url)
  const address = proxy.address()
  url.host = `127.0.0.1:${typeof address === 'object' && address ? address.port : ''}`
  const reports: string[] = []
  const news = new EventEmitter()
  const report = ({ message }: Error) => news.emit('report', reports.push(message))
  const pool = serverPool(new Secret(url.href), report)
  pool.on('connect', (client) => client.on('notice', ({ message }) => news.emit(message ?? '')))
  const operator = new pg.Pool({ connectionString: made.url, max: 1 })
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
    await pool.end()
    await operator.end()
    await made.drop()
  })
  const freeze = () => {
    for (const socket of sockets) socket.unpipe().pause()
  }
  return { url: url.href, pool, operator, reports, news, freeze }
}

const endOthers =
  'select pg_terminate_backend(pid) from pg_stat_activity ' +
  'where datname = current_database() and pid <> pg_backend_pid()'
const pidOf = async (pool: pg.Pool) =>
  (await pool.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid

test('a connection is used again after a pause of some seconds', async (t) => {
  const { pool, reports } = await openDatabase(t)
  const pid = await pidOf(pool)
  await pass(7000)
  assert.equal(await pidOf(pool), pid)
  assert.deepEqual(reports, [])
})

test('idle connections that have become silent make callers wait once', async (t) => {
  const { pool, freeze } = await openDatabase(t)
  await Promise.all([1, 2, 3].map(() => pool.query('select pg_sleep(0.1)')))
  assert.equal(pool.idleCount, 3)
  freeze()
  const first = await timed(() => assert.rejects(pool.query('select 1'), /silent/))
  assert.ok(first.milliseconds < 6500, `it took ${first.milliseconds} ms`)
  const second = await timed(() => pool.query('select 1'))
  assert.ok(first.milliseconds + second.milliseconds < 7000, `the next one took ${second.milliseconds} ms`)
})

test('a connection that ends within a transaction is reported once, and the caller gets its error', async (t) => {
  const { pool, operator, reports, news } = await openDatabase(t)
  const { db } = createStorage(pool)
  const broken = transaction(db, async (tx) => {
    await sql`select 1`.execute(tx)
    await Promise.all([once(news, 'report'), operator.query(endOthers)])
    await sql`select 1`.execute(tx)
  })
  await assert.rejects(broken)
  assert.deepEqual(reports, ['terminating connection due to administrator command'])

  const within = transaction(db, async (tx) => {
    const ending = once(news, 'asleep').then(() => operator.query(endOthers))
    const sleeping = sql`do $$ begin raise notice 'asleep'; perform pg_sleep(4); end $$`.execute(tx)
    // The error may arrive before the result of the operator, and must be handled then.
    await Promise.all([sleeping, ending])
  })
  await assert.rejects(within, /terminating connection due to administrator command/)
  assert.equal(reports.length, 2)
})

test('a connection that leads to a read-only database is not used again', async (t) => {
  const { pool, operator, reports } = await openDatabase(t)
  const { db } = createStorage(pool)
  const write = () => transaction(db, (tx) => sql`create table written ()`.execute(tx))
  const setReadOnly = (value: string) =>
    operator.query(`do $$ begin execute format('alter database %I set default_transaction_read_only = ${value}',
      current_database()); end $$`)
  await setReadOnly('on')
  await assert.rejects(write(), isReadOnly)
  await operator.query('set default_transaction_read_only = off')
  await setReadOnly('off')
  await write()
  assert.deepEqual(reports, [])
})

test('a migration over a connection that ends fails with the reason', async (t) => {
  const { url, pool, operator } = await openDatabase(t)
  await migrate(pool)
  const holder = await operator.connect()
  await holder.query('begin; select version from schema_lock for update')
  const waiting = onOwnConnection(url, 0, (own) => migrate(own))
  const rejected = assert.rejects(waiting, /terminating connection due to administrator command/)
  await untilWaiting(createStorage(pool).db, 1)
  await holder.query(endOthers)
  await holder.query('rollback')
  holder.release()
  await rejected
})

test('slow work over a connection that has become silent fails', async (t) => {
  const { url, freeze } = await openDatabase(t)
  const work = onOwnConnection(url, 500, async (own) => {
    await own.query('select 1')
    freeze()
    await own.query('select 2')
  })
  await assert.rejects(work, /silent/)
})
