import pg from 'pg'
import { createStorage, type Database } from '#platform/database/database.ts'

/**
 * Notes the database that the product opens in this process from now on, and returns it: for an operator who changes
 * rows while the product runs.
 */
export function noteOpenedDatabase(): () => Database {
  const opened: pg.Pool[] = []
  class NotedPool extends pg.Pool {
    constructor(...options: ConstructorParameters<typeof pg.Pool>) {
      super(...options)
      opened.push(this)
    }
  }
  Reflect.set(pg, 'Pool', NotedPool)
  return () => {
    const [pool] = opened
    if (!pool) throw new Error('the product has not opened its database yet')
    return createStorage(pool).db
  }
}
