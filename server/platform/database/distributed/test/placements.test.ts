import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from 'kysely'
import type { Database, Storage } from '#platform/database/database.ts'
import { openTestStorage } from '#testing/database.ts'
import { placements } from '../../../../modules.ts'
import { groupTables, type Placement } from '../sharding.ts'

let storage: Storage
let db: Database
before(async () => {
  storage = await openTestStorage()
  db = storage.db
})
after(() => storage.close())

const keyOf = (table: string) => {
  const placement = placements.get(table)
  return typeof placement === 'object' ? placement.by : undefined
}

test('every table has a place', async () => {
  const tables = (await db.introspection.getTables()).map(({ name }) => name)
  const own = tables.filter((name) => !name.startsWith('schema_') && !name.startsWith('citus_'))
  assert.deepEqual(own.toSorted(), [...placements.keys()].toSorted())
})

/** Unique indexes that hold in each shard alone, and what makes the values unique. */
const uniqueOtherwise: Record<string, string> = {
  audit_event_in_sequence: 'audit_chain has each place once, and gets it in the same transaction',
}

test('a unique index of a sharded table contains its key, so that the database enforces it', async () => {
  const { rows } = await sql<{ table: string; name: string; columns: string[] }>`
    select indrelid::regclass::text as table, indexrelid::regclass::text as name, array(
      select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey::smallint[])
    ) as columns
    from pg_index join pg_class on pg_class.oid = indrelid
    where indisunique and relnamespace = current_schema()::regnamespace`.execute(db)
  const lacking = rows.filter(({ table, columns }) => {
    const key = keyOf(table)
    return key !== undefined && !columns.includes(key)
  })
  const names = lacking.map(({ name }) => name).filter((name) => !(name in uniqueOtherwise))
  assert.deepEqual(names, [])
})

test('a foreign key stays in its shard, or leads to a table that every node has', async () => {
  const { rows } = await sql<{ table: string; target: string; columns: string[]; targets: string[] }>`
    select conrelid::regclass::text as table, confrelid::regclass::text as target,
      array(select attname::text from unnest(conkey) with ordinality as own (number, nth)
        join pg_attribute on attrelid = conrelid and attnum = number order by nth) as columns,
      array(select attname::text from unnest(confkey) with ordinality as own (number, nth)
        join pg_attribute on attrelid = confrelid and attnum = number order by nth) as targets
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`.execute(db)
  assert.ok(rows.length > 30)
  const wrong = rows.filter(({ table, target, columns, targets }) => {
    const [from, to] = [placements.get(table), placements.get(target)]
    if (to === 'every node' || to === from) return false
    const [key, targetKey] = [keyOf(table), keyOf(target)]
    if (key === undefined || targetKey === undefined) return true
    return columns.indexOf(key) === -1 || columns.indexOf(key) !== targets.indexOf(targetKey)
  })
  assert.deepEqual(wrong, [])
})

test('tables that refer to each other are distributed together, after those that every node has', () => {
  const places = new Map<string, Placement>([
    ['wheel', { by: 'car_id' }],
    ['color', 'every node'],
    ['car', { by: 'car_id' }],
    ['shade', 'every node'],
    ['ticket', 'coordinator'],
  ])
  const reference = (table: string, target: string) => ({ table, target, name: 'one', definition: '' })
  const references = [reference('wheel', 'car'), reference('car', 'color'), reference('shade', 'color')]
  assert.deepEqual(groupTables(places, references), [['shade', 'color'], ['ticket'], ['wheel', 'car']])
})
