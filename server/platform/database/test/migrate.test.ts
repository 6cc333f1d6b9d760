import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type pg from 'pg'
import type { Storage } from '#platform/database/database.ts'
import { createStorage, isUniqueViolation, transaction } from '#platform/database/database.ts'
import { migrate } from '#platform/database/migrate.ts'
import { openTestPool, openTestStorage } from '#testing/database.ts'
import { isShared, untilWaiting } from '#testing/lock-waits.ts'

let storage: Storage
before(async () => {
  storage = await openTestStorage()
})
after(() => storage.close())

test('STO-19 concurrent and repeated migrations leave one schema', async (t) => {
  const { pool, close } = await openTestPool()
  t.after(close)
  await Promise.all([migrate(pool), migrate(pool), migrate(pool)])
  await migrate(pool)
  const { rows } = await pool.query('select name from schema_migration order by name')
  assert.equal(rows[0].name, '0001_platform.sql')
  assert.equal(new Set(rows.map(({ name }) => name)).size, rows.length)
})

test('STO-19 a schema of a newer version is rejected and kept unchanged', async (t) => {
  const { pool, close } = await openTestPool()
  t.after(close)
  await migrate(pool)
  await pool.query("insert into schema_migration (name) values ('9999_later.sql')")
  await assert.rejects(migrate(pool), /newer version \(9999_later\.sql\)/)
})

const index = 'audit_event_of_completed_backup'

/** Opens a migrated database to which the migration of the index is new again. */
async function openWithoutIndex() {
  const { pool, close } = await openTestPool()
  await migrate(pool)
  await pool.query(`drop index ${index}`)
  await pool.query("delete from schema_migration where name = '0011_completed_backups.sql'")
  return { pool, close, db: createStorage(pool).db }
}

async function isIndexValid(pool: pg.Pool): Promise<boolean | undefined> {
  const { rows } = await pool.query(`select indisvalid from pg_index where indexrelid = to_regclass('${index}')`)
  return rows[0]?.indisvalid
}

const addEvent = `insert into audit_event (event_id, occurred_at, action, actor, details)
  values (gen_random_uuid(), now(), 'backup.completed', 'operator', '{}')`

if (isShared)
  test('STO-54 while an index is built for a large table, others write to the table without waiting', async (t) => {
    const { pool, close, db } = await openWithoutIndex()
    t.after(close)
    const writer = await pool.connect()
    await writer.query('begin')
    await writer.query(addEvent)
    const migrated = migrate(pool)
    await untilWaiting(db, 1)
    const another = migrate(pool)
    await pool.query("set local lock_timeout = '1s'; " + addEvent)
    assert.equal(await isIndexValid(pool), false)
    await writer.query('commit')
    writer.release()
    await Promise.all([migrated, another])
    assert.equal(await isIndexValid(pool), true)
  })

test('STO-54 an index whose building was interrupted is built again', async (t) => {
  const { pool, close } = await openWithoutIndex()
  t.after(close)
  if (isShared) {
    await pool.query(addEvent)
    await pool.query(addEvent)
    await assert.rejects(pool.query(`create unique index concurrently ${index} on audit_event (action)`), /unique/)
    assert.equal(await isIndexValid(pool), false)
  }
  await migrate(pool)
  assert.equal(await isIndexValid(pool), true)
})

test('a failed transaction leaves no changes, and its error reaches the caller', async () => {
  const event_id = '018f0000-0000-7000-8000-000000000001'
  const entry = { event_id, occurred_at: new Date(), action: 'app.created', actor: 'operator', details: '{}' } as const
  await assert.rejects(
    transaction(storage.db, async (tx) => {
      await tx.insertInto('audit_event').values(entry).execute()
      throw new Error('thought better of it')
    }),
    /thought better/,
  )
  await storage.db.insertInto('audit_event').values(entry).execute()
  const again = storage.db.insertInto('audit_event').values(entry).execute()
  await assert.rejects(
    again,
    (error) => isUniqueViolation(error, 'audit_event_pkey') && !isUniqueViolation(error, 'another'),
  )
})
