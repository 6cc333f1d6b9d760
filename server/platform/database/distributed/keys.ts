import { sql, type Expression, type RawBuilder } from 'kysely'
import type { Database, Transaction } from '../database.ts'
import type { Tables } from '../tables.ts'
import { isDistributed } from './engine.ts'

/**
 * Returns the keys that a query finds, for a condition `… = any(keys)` of another statement. On one server they are the
 * query itself, so that both are one statement. A distributed database executes it first: only keys that a statement is
 * given tell it the shards.
 */
export async function findKeys<Key>(
  db: Database | Transaction,
  query: Expression<Record<string, Key>>,
): Promise<RawBuilder<Key[]>> {
  const first = sql<Record<string, Key>>`select * from ${query} as found_first`
  if (!isDistributed(db)) return sql`array(${first})`
  const { rows } = await first.execute(db)
  return sql`${rows.flatMap((row) => Object.values(row))}`
}

/**
 * Returns a table that a statement looks up for rows of other tables. A distributed database cannot do that for rows
 * that every node has: there, it is the rows of a query that names no row of the statement, which it executes first.
 */
export function readFirst(
  db: Database | Transaction,
  table: keyof Tables,
  rows: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return isDistributed(db) ? sql`(${rows} offset 0)` : sql.table(table)
}
