import type pg from 'pg'
import type { Between } from './database.ts'

type Query = (...args: unknown[]) => unknown

/** Returns what replaces the queries of every connection: `replacement` gets the original one and its arguments. */
export function replaceQueries(replacement: (query: Query, args: unknown[]) => unknown): Between {
  return (pool) => {
    const changed = new WeakSet<pg.PoolClient>()
    pool.on('acquire', (client) => {
      if (changed.has(client)) return
      changed.add(client)
      const query: Query = client.query.bind(client)
      Object.assign(client, { query: (...args: unknown[]) => replacement(query, args) })
    })
    return pool
  }
}

/** Returns the text of a statement from the first argument of a query. */
export function textOf(statement: unknown): string {
  if (typeof statement === 'string') return statement
  return typeof statement === 'object' && statement !== null && 'text' in statement ? String(statement.text) : ''
}

/**
 * Records the statements of each round trip: those that are sent before the first of them is answered. `between` is the
 * option for a storage or a world.
 */
export function recordTrips(): { between: Between; trips: string[][] } {
  const trips: string[][] = []
  let unanswered = 0
  const between = replaceQueries(async (query, args) => {
    if (unanswered === 0) trips.push([])
    trips.at(-1)?.push(textOf(args[0]).trim())
    unanswered += 1
    try {
      return await query(...args)
    } finally {
      unanswered -= 1
    }
  })
  return { between, trips }
}
