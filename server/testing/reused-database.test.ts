import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { openReusedDatabase } from './reused-database.ts'

/** Runs the work of a test file. Returns its result, and when the database was started. */
async function inFile<Result>(work: (pool: pg.Pool) => Promise<Result>) {
  const { pool, close } = await openReusedDatabase()
  try {
    const { rows } = await pool.query<{ startedAt: Date }>('select pg_postmaster_start_time() as "startedAt"')
    return { result: await work(pool), startedAt: rows[0]?.startedAt.getTime() }
  } finally {
    await close()
  }
}

const addAccounts = (count: number) => (pool: pg.Pool) =>
  pool.query(
    `insert into user_account (user_id, identity_count, created_at)
    select gen_random_uuid(), 0, now() from generate_series(1, $1::integer)`,
    [count],
  )

async function countAccounts(pool: pg.Pool): Promise<number | undefined> {
  const { rows } = await pool.query<{ count: number }>('select count(*)::integer as count from user_account')
  return rows[0]?.count
}

test('the next test file gets the same database without the rows, however many there were', async () => {
  const first = await inFile(addAccounts(3))
  const second = await inFile(async (pool) => {
    const count = await countAccounts(pool)
    await addAccounts(3000)(pool)
    return count
  })
  const third = await inFile(countAccounts)
  assert.deepEqual([second.result, third.result], [0, 0])
  assert.deepEqual([second.startedAt, third.startedAt], [first.startedAt, first.startedAt])
})

test('what a test file left open or set does not reach the next one', async () => {
  await inFile(async (pool) => {
    await pool.query(`set work_mem = '64kB'`)
    await pool.query('begin')
    await addAccounts(1)(pool)
  })
  const { result } = await inFile(async (pool) => {
    const { rows } = await pool.query<{ workMem: string }>(`select current_setting('work_mem') as "workMem"`)
    return [await countAccounts(pool), rows[0]?.workMem]
  })
  assert.deepEqual(result, [0, '4MB'])
})

const changes = {
  'a trigger': `create function stop() returns trigger language plpgsql as 'begin return null; end';
    create trigger stopping before insert on user_account for each row execute function stop()`,
  'a trigger that is off': 'alter table scim_group disable trigger all',
  'a column': 'alter table user_account add column extra text',
  'the type of a column': 'alter table user_account alter column identity_count type bigint',
  'its migrations': 'delete from schema_migration',
  'an index': 'create index extra on user_account (created_at)',
  'a constraint': 'alter table user_account add constraint extra check (created_at is not null)',
  statistics: 'analyze user_account',
  'a table': 'create table extra ()',
}

for (const [name, change] of Object.entries(changes))
  test(`a database in which a test file has changed ${name} is not used again`, async () => {
    const changed = await inFile(async (pool) => {
      await addAccounts(1)(pool)
      await pool.query(change)
    })
    const next = await inFile(countAccounts)
    assert.equal(next.result, 0)
    assert.notEqual(next.startedAt, changed.startedAt)
  })
