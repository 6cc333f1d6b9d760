import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { PGlite } from '@electric-sql/pglite'
import type pg from 'pg'
import { embeddedPool } from '#platform/database/embedded.ts'

let database: PGlite
let pool: pg.Pool
const panics: string[] = []
before(async () => {
  database = await PGlite.create()
  pool = embeddedPool(database, (message) => panics.push(message))
  await pool.query('create table thing (id uuid primary key, list bytea[])')
})
after(async () => {
  await pool.end()
  await database.close()
})

const failures: Record<string, () => Promise<unknown>> = {
  'a statement that cannot be parsed': () => pool.query('selec'),
  'a prepared statement that cannot be parsed': () => pool.query({ name: 'broken', text: 'selec $1', values: [1] }),
  'a value that does not fit its type': () => pool.query('select $1::uuid', ['x']),
  'a row that breaks a constraint': () => pool.query('insert into thing (id) values (null)'),
}
for (const [what, fail] of Object.entries(failures))
  test(`after ${what} the database answers the next query`, async () => {
    await assert.rejects(fail())
    assert.deepEqual((await pool.query('select $1::integer as one', [1])).rows, [{ one: 1 }])
    assert.deepEqual(panics, [])
  })

test('a prepared statement is sent once, and concurrent executions all succeed', async () => {
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, number) =>
      pool.query({ name: 'twice', text: 'select $1::integer * 2 as twice', values: [number] }),
    ),
  )
  assert.deepEqual(
    answers.map(({ rows }) => rows[0].twice),
    Array.from({ length: 100 }, (_, number) => number * 2),
  )
})

test('data larger than one packet is transferred completely', async () => {
  const text = 'ä'.repeat(1_000_000)
  const { rows } = await pool.query('select $1::text as text', [text])
  assert.equal(rows[0].text, text)
})

test('a connection that ends in a transaction leaves no state to the next', async () => {
  const client = await pool.connect()
  await client.query('begin')
  await client.query("insert into thing (id) values ('00000000-0000-4000-8000-000000000001')")
  await client.query({ name: 'left behind', text: 'select 1' })
  client.release(true)
  assert.deepEqual((await pool.query('select id from thing')).rows, [])
  assert.deepEqual((await pool.query({ name: 'left behind', text: 'select 2 as two' })).rows, [{ two: 2 }])
})

test('statements in sequence do not keep the process from timers and requests', async () => {
  const elapsed = new AbortController()
  const timer = setTimeout(() => elapsed.abort(), 1)
  const until = performance.now() + 5_000
  while (!elapsed.signal.aborted && performance.now() < until) await pool.query('select 1')
  clearTimeout(timer)
  assert.ok(elapsed.signal.aborted)
})
