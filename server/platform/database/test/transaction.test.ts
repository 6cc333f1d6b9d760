import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import pg from 'pg'
import { recordTrips } from '#testing/interruption.ts'
import { openTestStorage } from '#testing/database.ts'
import { type Database, type Storage, type Transaction, transaction } from '../database.ts'
import { sendAhead } from '../pipeline.ts'

const { between, trips } = recordTrips()
let storage: Storage
let db: Database
before(async () => {
  storage = await openTestStorage(between)
  db = storage.db
  await sql`create table counter (id integer primary key, count integer not null check (count >= 0))`.execute(db)
})
after(() => storage.close())

let nextId = 1
/** Inserts a row, and returns its ID. */
async function makeCounter(): Promise<number> {
  const id = nextId++
  await sql`insert into counter (id, count) values (${id}, 0)`.execute(db)
  return id
}

const read = (id: number, from: Database = db) =>
  sql<{ count: number }>`select count from counter where id = ${id}`.execute(from).then(({ rows }) => rows[0]?.count)
const add = (id: number, amount: number) => sql`update counter set count = count + ${amount} where id = ${id}`

test('a transaction needs a round trip for what it awaits, and one for its commit', async () => {
  const id = await makeCounter()
  trips.length = 0
  await transaction(db, async (tx) => {
    await read(id, tx)
    sendAhead(tx, bound(tx, add(id, 1)))
    sendAhead(tx, bound(tx, add(id, 2)))
  })
  const kinds = trips.map((trip) => trip.map((text) => text.slice(0, 6)))
  assert.deepEqual(kinds, [
    ['begin', 'select'],
    ['update', 'update', 'commit'],
  ])
  assert.equal(await read(id), 3)
})

test('statements that begin together are executed in their order', async () => {
  const id = await makeCounter()
  const [first, , second] = await transaction(db, (tx) =>
    Promise.all([read(id, tx), add(id, 5).execute(tx), read(id, tx)]),
  )
  assert.deepEqual([first, second], [0, 5])
})

test('a statement sent ahead that fails fails the transaction, with its own error', async () => {
  const id = await makeCounter()
  const isViolation = (error: unknown) => error instanceof pg.DatabaseError && error.code === '23514'
  const failing: ((tx: Transaction) => Promise<unknown>)[] = [
    () => Promise.resolve(),
    (tx) => read(id, tx),
    (tx) => Promise.all([read(id, tx), read(id, tx)]),
  ]
  for (const others of failing) {
    const failed = transaction(db, async (tx) => {
      await add(id, 1).execute(tx)
      sendAhead(tx, bound(tx, add(id, -10)))
      await others(tx)
    })
    await assert.rejects(failed, isViolation)
    assert.equal(await read(id), 0)
  }
})

test('work that fails undoes what it sent ahead', async () => {
  const id = await makeCounter()
  const failed = transaction(db, (tx) => {
    sendAhead(tx, bound(tx, add(id, 1)))
    return Promise.reject(new Error('refused'))
  })
  await assert.rejects(failed, /refused/)
  assert.equal(await read(id), 0)
})

test('a conflict of a statement sent ahead is retried', async () => {
  const id = await makeCounter()
  let attempts = 0
  await transaction(db, async (tx) => {
    attempts += 1
    await read(id, tx)
    sendAhead(tx, bound(tx, add(id, 1)))
    if (attempts === 1) sendAhead(tx, bound(tx, sql`do $$ begin raise exception sqlstate '40001'; end $$`))
  })
  assert.equal(attempts, 2)
  assert.equal(await read(id), 1)
})

test('a failure that a savepoint undoes does not fail the transaction', async () => {
  const id = await makeCounter()
  await transaction(db, async (tx) => {
    await sql`savepoint before`.execute(tx)
    await assert.rejects(add(id, -1).execute(tx), /check/)
    await sql`rollback to savepoint before`.execute(tx)
    await add(id, 4).execute(tx)
  })
  assert.equal(await read(id), 4)
})

test('a transaction that has ended sends nothing more', async () => {
  const id = await makeCounter()
  const ended = await transaction(db, (tx) => Promise.resolve({ tx }))
  await assert.rejects(add(id, 1).execute(ended.tx), /has ended/)
  assert.equal(await read(id), 0)
})

/** A statement of raw SQL, compiled for a transaction. */
function bound(tx: Transaction, statement: ReturnType<typeof add>) {
  return { compile: () => statement.compile(tx) }
}
