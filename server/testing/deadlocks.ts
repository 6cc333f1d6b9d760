import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'

/**
 * Counts the deadlocks that the database has ended. A transaction that loses one is repeated, so that no answer shows
 * it. `setDistance` sets the milliseconds before each statement, like a database that is far away, so that transactions
 * overlap. Pass `between` to the database.
 */
export function countDeadlocks() {
  let deadlocks = 0
  let distance = 0
  const isDeadlock = (error: unknown) => error instanceof pg.DatabaseError && error.code === '40P01'

  return {
    count: () => deadlocks,
    setDistance(milliseconds: number): void {
      distance = milliseconds
    },
    between(pool: pg.Pool): pg.Pool {
      const seen = new WeakSet<pg.PoolClient>()
      pool.on('acquire', (client) => {
        if (seen.has(client)) return
        seen.add(client)
        const query: (...values: unknown[]) => unknown = client.query.bind(client)
        const delayed = async (...values: unknown[]) => {
          if (distance > 0) await pause(distance)
          try {
            return await query(...values)
          } catch (error) {
            if (isDeadlock(error)) deadlocks += 1
            throw error
          }
        }
        // Statements with a callback and cursors are not those of a transaction.
        const isPlain = (values: unknown[]) => values.every((value) => typeof value !== 'function')
        Object.assign(client, {
          query: (...values: unknown[]) => (isPlain(values) ? delayed(...values) : query(...values)),
        })
      })
      return pool
    },
  }
}
