import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type pg from 'pg'
import { createStorage, transaction, type Storage } from '#platform/database/database.ts'
import { plannedForValues } from '#platform/database/statement-names.ts'
import { openTestPool } from '#testing/database.ts'
import { createWorld } from '#testing/world.ts'

/** Opens a service with one connection, and a function that counts what that connection has prepared so far. */
async function openWorld(t: TestContext, environment: Record<string, string>) {
  const pools: pg.Pool[] = []
  const between = (pool: pg.Pool) => {
    pool.options.max = 1
    pools.push(pool)
    return pool
  }
  const world = await createWorld({ environment, between })
  t.after(() => world.close())
  return { world, countPrepared: async () => countPreparedOn(pools[0]) }
}

/** Counts by a statement that itself is not prepared. */
async function countPreparedOn(pool: pg.Pool | undefined): Promise<number> {
  const counted = await pool?.query<{ count: number }>('select count(*)::integer as count from pg_prepared_statements')
  assert.ok(counted?.rows[0])
  return counted.rows[0].count
}

/** Creates what signs a user in to an app, and lets that read who it is. */
async function prepareSignIn({ api, person, app }: Awaited<ReturnType<typeof openWorld>>['world']) {
  const [user, client] = [await person(), await app()]
  return async () => {
    const headers = await user.signIn()
    const tokens = await client.tokens({ headers, identityId: user.identityId })
    const authorization = `Bearer ${tokens.access_token}`
    const { statusCode } = await api.inject({ url: '/api/oauth/userinfo', headers: { authorization } })
    assert.equal(statusCode, 200)
  }
}

test('a repeated sign-in prepares no statement', async (t) => {
  const { world, countPrepared } = await openWorld(t, {})
  const signIn = await prepareSignIn(world)
  for (let known = 0; known < 3; known += 1) await signIn()
  const before = await countPrepared()
  await signIn()
  assert.ok(before > 10)
  assert.equal(await countPrepared(), before)
})

test('with DATABASE_STATEMENT_NAMES=off no statement is prepared under a name', async (t) => {
  const { world, countPrepared } = await openWorld(t, { DATABASE_STATEMENT_NAMES: 'off' })
  const signIn = await prepareSignIn(world)
  for (let known = 0; known < 3; known += 1) await signIn()
  assert.equal(await countPrepared(), 0)
})

async function openThings(t: TestContext): Promise<{ storage: Storage; countPrepared: () => Promise<number> }> {
  const { pool, close } = await openTestPool()
  t.after(close)
  pool.options.max = 1
  await pool.query('create table thing (thing_id integer primary key)')
  await pool.query('insert into thing select * from generate_series(1, 500)')
  return { storage: createStorage(pool, { closeAll: close }), countPrepared: () => countPreparedOn(pool) }
}

const listThings = ({ db }: Storage, ids: number[]) =>
  sql`select thing_id from thing where thing_id in (${sql.join(ids)})`.execute(db)
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

test('a statement that is sent once is not prepared', async (t) => {
  const { storage, countPrepared } = await openThings(t)
  await listThings(storage, [1])
  assert.equal(await countPrepared(), 0)
  await listThings(storage, [2])
  assert.equal(await countPrepared(), 1)
})

test('a statement that is planned for its values is never prepared', async (t) => {
  const { storage, countPrepared } = await openThings(t)
  const listed = sql`thing_id = any(${upTo(3)}::integer[])`
  const statements = [
    sql`${plannedForValues} select thing_id from thing where ${listed}`,
    sql`select thing_id from thing where ${plannedForValues} ${listed}`,
  ]
  for (const statement of statements)
    for (let sent = 0; sent < 3; sent += 1) assert.equal((await statement.execute(storage.db)).rows.length, 3)
  assert.equal(await countPrepared(), 0)
})

test('long lists of every length fill no memory with their statements', async (t) => {
  const { storage, countPrepared } = await openThings(t)
  for (const length of upTo(100))
    for (let sent = 0; sent < 2; sent += 1) {
      const { rows } = await listThings(storage, upTo(length))
      assert.equal(rows.length, length)
    }
  assert.equal(await countPrepared(), 50)
})

test('a connection is replaced after 300 statements, but not within a transaction', async (t) => {
  const { storage, countPrepared } = await openThings(t)
  const send = (db: Storage['db'], nth: number) => sql`select ${nth}::integer as ${sql.ref(`nth_${nth}`)}`.execute(db)
  const counts: number[] = []
  for (const nth of upTo(350)) {
    for (let sent = 0; sent < 2; sent += 1) await send(storage.db, nth)
    counts.push(await countPrepared())
  }
  assert.equal(Math.max(...counts), 299)
  assert.equal(counts.at(-1), 50)

  await transaction(storage.db, async (tx) => {
    await sql`create temporary table kept (nth integer) on commit drop`.execute(tx)
    for (const nth of upTo(350)) await send(tx, nth)
    await sql`select nth from kept`.execute(tx)
  })
  assert.equal(await countPrepared(), 0)
})

test('a column that a later version adds breaks no statement', async (t) => {
  const { storage } = await openThings(t)
  const { db } = storage
  const read = () => sql`select * from thing where thing_id = ${1}`.execute(db)
  const change = () => sql`update thing set thing_id = thing_id where thing_id = ${1} returning *`.execute(db)
  for (let sent = 0; sent < 3; sent += 1) {
    await read()
    await change()
  }
  await sql`alter table thing add column later text`.execute(db)
  assert.deepEqual((await read()).rows, [{ thing_id: 1, later: null }])
  assert.deepEqual((await change()).rows, [{ thing_id: 1, later: null }])
})
