import type pg from 'pg'

/** A statement as the database ran it, and how many blocks of 8 KiB it read. */
export type Ran = { text: string; blocks: number }

/**
 * What the statements of a PostgreSQL have read, by its own account (auto_explain): of those that come from outside,
 * and of those that a constraint runs within them. Needs a superuser. An embedded database gives no account.
 */
export function watchStatements() {
  const known = new WeakSet<pg.PoolClient>()
  let ran: Ran[] = []

  function watch(client: pg.PoolClient): void {
    if (known.has(client)) return
    known.add(client)
    client.on('notice', ({ message = '' }) => {
      const at = message.indexOf('plan:\n')
      if (at !== -1) ran.push(readPlan(message.slice(at + 'plan:\n'.length)))
    })
    // Before whatever the client was taken for: a connection runs its statements in their order.
    void client.query(`load 'auto_explain'; ${settings.map((setting) => `set auto_explain.${setting};`).join('')}`)
  }

  return {
    /** For `createWorld`. */
    between(pool: pg.Pool): pg.Pool {
      if (pool.options.connectionString !== undefined) pool.on('acquire', watch)
      return pool
    },
    /** What has run since the last time. */
    take(): Ran[] {
      const taken = ran
      ran = []
      return taken
    },
  }
}

const settings = [
  'log_min_duration = 0',
  'log_analyze = on',
  'log_buffers = on',
  'log_timing = off',
  'log_nested_statements = on',
  'log_format = json',
  'log_level = notice',
]

type Plan = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }

function readPlan(text: string): Ran {
  const { 'Query Text': query, Plan: plan }: { 'Query Text': string; Plan: Plan } = JSON.parse(text)
  return {
    text: query.replaceAll(/\s+/g, ' ').trim(),
    blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  }
}
