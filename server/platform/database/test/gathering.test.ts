import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openTestPool } from '#testing/database.ts'
import { createStorage, type Storage } from '#platform/database/database.ts'
import type { BatchStatement } from '#platform/database/batching.ts'

type Counted = { id: number; total: number; together: number }

/** Increments counters and returns the number of callers that shared the statement. */
const add: BatchStatement = {
  name: 'add to a counter',
  changes: 0,
  own: 0,
  text: `
    with requested as (
      select * from unnest($1::integer[], $2::integer[]) with ordinality as requested (id, added, nth)
    )
    update counter set total = total + 10 / added from requested where counter.id = requested.id
    returning nth::integer, counter.id as own, counter.id, total, (select count(*)::integer from requested)
      as together`,
}

let storage: Storage
before(async () => {
  const { pool, close } = await openTestPool()
  await pool.query('create table counter (id integer primary key, total integer not null)')
  await pool.query('insert into counter select id, 0 from generate_series(1, 200) as id')
  storage = createStorage(pool, { closeAll: close })
})
after(() => storage.close())

test('a single caller runs alone', async () => {
  const ask = storage.batched<Counted>(add)
  const counted = await ask([1, 10])
  assert.deepEqual({ ...counted }, { nth: 1, own: 1, id: 1, total: 1, together: 1 })
})

test('concurrent callers share statements, and each gets its own row', async () => {
  const ask = storage.batched<Counted>(add)
  const ids = Array.from({ length: 100 }, (_, index) => index + 101)
  const all = await Promise.all(ids.map((id) => ask([id, 5])))
  assert.deepEqual(
    all.map((counted) => counted?.id),
    ids,
  )
  assert.ok(all.every((counted) => counted?.total === 2))
  assert.ok(all.some((counted) => (counted?.together ?? 0) > 20))
})

test('a caller without a matching row gets none, among callers with rows', async () => {
  const ask = storage.batched<Counted>(add)
  const [first, none, third] = await Promise.all([ask([2, 10]), ask([999, 10]), ask([3, 10])])
  assert.deepEqual([first?.id, none, third?.id], [2, undefined, 3])
})

test('callers of one row run one after another, and none is lost', async () => {
  const ask = storage.batched<Counted>(add)
  const all = await Promise.all(Array.from({ length: 20 }, () => ask([4, 10])))
  assert.deepEqual(
    all.map((counted) => counted?.total),
    Array.from({ length: 20 }, (_, index) => index + 1),
  )
})

test('a caller that makes the statement fail fails alone', async () => {
  const ask = storage.batched<Counted>(add)
  const ids = Array.from({ length: 40 }, (_, index) => index + 20)
  const settled = await Promise.allSettled(ids.map((id) => ask([id, id === 50 ? 0 : 10])))
  assert.deepEqual(
    settled.map(({ status }, index) => (status === 'rejected' ? ids[index] : undefined)).filter(Boolean),
    [50],
  )
  assert.ok(settled.every((each) => each.status === 'rejected' || each.value?.total === 1))
})
