import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Storage } from '#platform/database/database.ts'
import { isUniqueViolation, transaction } from '#platform/database/database.ts'
import { migrate } from '#platform/database/migrate.ts'
import { openTestPool, openTestStorage } from '#testing/database.ts'

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
