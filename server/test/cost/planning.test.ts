import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openTestStorage } from '#testing/database.ts'
import { findSessionStatement } from '../../accounts/sessions/store.ts'
import { describeAccessStatement, findAccessStatement } from '../../tokens/families/access-store.ts'
import { redeemCodeStatement, rotateStatement } from '../../tokens/families/store.ts'

/** Executions after which PostgreSQL compares a plan for all values with those that it has made. */
const comparedAfter = 5

test('a connection plans the statements that requests share once, and not for each number of callers', async () => {
  await using opened = new AsyncDisposableStack()
  const storage = await openTestStorage()
  opened.defer(() => storage.close())
  const [id, hash, now] = [randomUUID(), randomBytes(32), new Date()]
  const values = new Map([
    [findSessionStatement, [id, hash]],
    [findAccessStatement, [id, hash, now]],
    [describeAccessStatement, [id, hash, now]],
    [redeemCodeStatement, [id, id, hash, 'app', 'https://app.example', null, true, now, 60, hash, hash, hash, now]],
    [rotateStatement, [id, id, hash, 'app', now, hash, now, now, null, hash, now, 2]],
  ])
  for (const [statement, ofCaller] of values) {
    const run = storage.batched(statement)
    for (let nth = 0; nth < 2 * comparedAfter; nth += 1) await run(ofCaller)
  }
  const { rows } = await sql<{ name: string; plans: number }>`
    select name, custom_plans::integer as plans from pg_prepared_statements`.execute(storage.db)
  const plans = new Map(rows.map(({ name, plans: made }) => [name, made]))
  for (const { name } of values.keys()) assert.equal(plans.get(name), comparedAfter, name)
})
