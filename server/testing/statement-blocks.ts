import type pg from 'pg'
import { startPostgres } from '../../tools/postgres.ts'

/** Executed statement, with the number of blocks of 8 KiB that it read. */
export type Ran = { text: string; blocks: number }

/** Plans that PostgreSQL makes for a statement: for the values of each execution, or one for all values. */
export type PlanMode = (typeof planModes)[number]
export const planModes = ['force_custom_plan', 'force_generic_plan'] as const

/**
 * Starts a PostgreSQL server and makes it that of all tests in this process. On one with other tests, a connection
 * reads the catalog again whenever those have created many tables, and the blocks would count as a statement's.
 */
export async function useOwnPostgres(): Promise<AsyncDisposable> {
  const cluster = await startPostgres()
  process.env['TEST_DATABASE_URL'] = cluster.url
  return cluster
}

/**
 * Records how much the statements of a PostgreSQL have read, as reported by auto_explain: those of clients, and those
 * that constraints run within them. Requires a superuser. An embedded database does not report it.
 */
export function watchStatements() {
  const planModes = new WeakMap<pg.PoolClient, PlanMode>()
  let planMode: PlanMode = 'force_custom_plan'
  let ran: Ran[] = []

  function watch(client: pg.PoolClient): void {
    const known = planModes.get(client)
    if (known === planMode) return
    planModes.set(client, planMode)
    const load = known === undefined ? report(client) : ''
    // Queued before any statement of the client: a connection runs statements in order.
    void client.query(`${load}set plan_cache_mode = ${planMode}`)
  }

  function report(client: pg.PoolClient): string {
    client.on('notice', ({ message = '' }) => {
      const at = message.indexOf('plan:\n')
      if (at !== -1) ran.push(readPlan(message.slice(at + 'plan:\n'.length)))
    })
    return `load 'auto_explain'; ${settings.map((setting) => `set auto_explain.${setting};`).join('')}`
  }

  return {
    /** Option for `createWorld`. */
    between(pool: pg.Pool): pg.Pool {
      if (pool.options.connectionString !== undefined) pool.on('acquire', watch)
      return pool
    },
    /** Chooses the plans of statements from now on; at first, custom ones. */
    usePlans(mode: PlanMode): void {
      planMode = mode
    },
    /** Returns the statements since the last call. */
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
