import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type pg from 'pg'
import { openEmbeddedDatabase } from '#platform/database/embedded.ts'

async function openPool(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  const { pool, close } = await openEmbeddedDatabase(directory, { onPanic: assert.fail, onUpkeepError: assert.fail })
  t.after(async () => {
    await close()
    await rm(directory, { recursive: true })
  })
  await pool.query('create table thing (value bytea)')
  return pool
}

/** Waits for the upkeep of a minute. Its queries, at most four, take turns with these on the one connection. */
async function upkeepOf(t: TestContext, pool: pg.Pool): Promise<void> {
  t.mock.timers.tick(60_000)
  for (let turn = 0; turn < 5; turn += 1) await pool.query('select 1')
}

test('each commit is flushed to the disk, and a read is not', async (t) => {
  const pool = await openPool(t)
  const { mock: flush } = t.mock.method(fs, 'fsyncSync')
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  for (let nth = 1; nth <= 10; nth += 1) {
    await pool.query('insert into thing values ($1)', [Buffer.from([nth])])
    assert.ok(flush.callCount() >= nth)
  }
  const flushed = flush.callCount()
  assert.equal((await pool.query('select from thing')).rowCount, 10)
  assert.equal(flush.callCount(), flushed)
})

test('the log to replay after a crash stays short while the database is open', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const pool = await openPool(t)
  const logMegabytes = async () => {
    const { rows } = await pool.query(
      'select (pg_current_wal_insert_lsn() - redo_lsn)::float / 1048576 as megabytes from pg_control_checkpoint()',
    )
    return Number(rows[0].megabytes)
  }
  const value = randomBytes(8 * 1024 * 1024)
  for (let nth = 1; nth <= 8; nth += 1) await pool.query('insert into thing values ($1)', [value])
  assert.ok((await logMegabytes()) > 64)
  await upkeepOf(t, pool)
  assert.ok((await logMegabytes()) < 1)
})

test('space of deleted rows is used again while the database is open', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const pool = await openPool(t)
  const fill = () => pool.query("insert into thing select repeat('0', 500)::bytea from generate_series(1, 5000)")
  const bytes = async () => Number((await pool.query("select pg_table_size('thing') as bytes")).rows[0].bytes)
  await fill()
  const full = await bytes()
  for (let round = 1; round <= 5; round += 1) {
    await pool.query('delete from thing')
    // Statistics of statements become visible at most once a second.
    await pool.query('select pg_stat_force_next_flush()')
    await upkeepOf(t, pool)
    await fill()
  }
  assert.ok((await bytes()) < 1.5 * full)
})

test('tables that only grow get statistics, also beside one with large values', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const pool = await openPool(t)
  await pool.query('create table later (value integer)')
  for (let nth = 1; nth <= 8; nth += 1) await pool.query('insert into thing values ($1)', [randomBytes(60_000)])
  await pool.query('insert into later select * from generate_series(1, 5000)')
  await pool.query('select pg_stat_force_next_flush()')
  for (let run = 1; run <= 3; run += 1) await upkeepOf(t, pool)
  const { rows } = await pool.query("select reltuples::integer as rows from pg_class where relname = 'later'")
  assert.deepEqual(rows, [{ rows: 5000 }])
})

test('a directory that cannot be written is refused with what to do, and not taken for damaged', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  t.after(() => rm(directory, { recursive: true }))
  const listeners = { onPanic: assert.fail, onUpkeepError: assert.fail }
  await (await openEmbeddedDatabase(directory, listeners)).close()
  const denied = Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' })
  t.mock.method(fs.promises, 'access', () => Promise.reject(denied))
  syncBuiltinESMExports()
  t.after(() => {
    t.mock.restoreAll()
    syncBuiltinESMExports()
  })
  await assert.rejects(openEmbeddedDatabase(directory, listeners), /DATA_DIR cannot be used .* writable/)
})
