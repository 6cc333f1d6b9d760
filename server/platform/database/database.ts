import { Kysely, PostgresDialect, type Transaction as KyselyTransaction } from 'kysely'
import pg from 'pg'
import { databaseCode, obstacleOf, reachDatabase } from './database-reach.ts'
import { allowedSocket } from '#platform/egress.ts'
import { openEmbedded } from './embedded-database.ts'
import { gathering, type Gathered, type GatheredStatement } from './batching.ts'
import { migrate } from './migrate.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { Tables } from './tables.ts'

export type Database = Kysely<Tables>
export type Transaction = KyselyTransaction<Tables>

/** A statement that PostgreSQL plans once a connection: its name, and its text with `$1`-style parameters. */
export type Statement = { name: string; text: string }

/** Runs a prepared statement: one round trip, one commit. */
export type Prepared = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>

export type Storage = {
  db: Database
  prepared: Prepared
  /** The way of the hot paths: a statement that callers who come at the same time share. The rest is Kysely's. */
  gathered: <Row extends object>(statement: GatheredStatement) => Gathered<Row>
  /**
   * Work that takes its time: on a connection of its own, which is not ended for being held. The embedded database has
   * only the one, so there everything else waits.
   */
  alone: <Result>(work: (db: Database) => Promise<Result>) => Promise<Result>
  /** Resolves when the database answers; rejects when it does not. */
  ping: () => Promise<void>
  /** How many connections there are, for who watches. */
  connections: () => { open: number; idle: number; waiting: number }
  close: () => Promise<void>
}

type Opening = {
  url: Secret | undefined
  /** Where the embedded database lives when there is no URL. */
  directory: string
  /** How many connections to the PostgreSQL at `url` at most. */
  connections: number
  onPanic: (message: string) => void
  onConnectionError: (error: Error) => void
  /** Called where the PostgreSQL does not answer yet, or a migration does not get its locks, and is waited for. */
  onWaiting: (reason: string) => void
}

const gatheredUnderWayMax = 2
const statementTimeoutMilliseconds = 5000
const longWorkTimeoutMilliseconds = 60_000
const heldMillisecondsMax = statementTimeoutMilliseconds + 1000

/**
 * Opens and migrates the database: PostgreSQL at `url`, or without one an embedded PostgreSQL. Throws `ConfigError`
 * where it does not answer in time, or does not let this service in.
 */
export async function openStorage({
  url,
  directory,
  connections,
  onPanic,
  onConnectionError,
  onWaiting,
}: Opening): Promise<Storage> {
  const embedded = url ? undefined : await openEmbedded(directory, onPanic)
  const pool = embedded?.pool ?? serverPool(url, onConnectionError, connections)
  try {
    if (url) await reachDatabase(pool, url, onWaiting)
    await (url ? onOwnConnection(url.reveal(), (own) => migrate(own, onWaiting)) : migrate(pool))
  } catch (error) {
    await (embedded?.close() ?? pool.end())
    throw (url && obstacleOf(error, url)) ?? error
  }
  return storageOver(pool, embedded?.close)
}

/** A storage over a pool whose database is migrated. `closeAll` replaces the ending of the pool alone. */
export function storageOver(pool: pg.Pool, closeAll?: () => Promise<void>): Storage {
  const prepared = async <Row extends object>(statement: Statement, values: unknown[]) => {
    const { name, text } = statement
    const { rows } = await retrying(() => pool.query<Row>({ name, text, values }))
    return rows
  }
  const underWayMax = Math.min(gatheredUnderWayMax, pool.options.max)
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const { connectionString } = pool.options
  return {
    db,
    prepared,
    gathered: (statement) => gathering(statement, { run: (...sent) => prepared(...sent), underWayMax, changedNothing }),
    alone: (work) => (connectionString === undefined ? work(db) : alone(connectionString, work)),
    async ping() {
      await pool.query('select 1')
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: closeAll ?? (() => pool.end()),
  }
}

function alone<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  return onOwnConnection(url, (pool) => work(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })))
}

async function onOwnConnection<Result>(url: string, work: (pool: pg.Pool) => Promise<Result>): Promise<Result> {
  const own = new pg.Pool({
    connectionString: url,
    stream: () => allowedSocket('database'),
    max: 1,
    connectionTimeoutMillis: statementTimeoutMilliseconds,
    statement_timeout: longWorkTimeoutMilliseconds,
    idle_in_transaction_session_timeout: longWorkTimeoutMilliseconds,
    keepAlive: true,
  })
  // What breaks a connection is told by the statement that it fails.
  own.on('connect', (client) => client.on('error', () => {}))
  own.on('error', () => {})
  try {
    return await work(own)
  } finally {
    await own.end()
  }
}

/**
 * PostgreSQL over the network. A connection that breaks, idle or in use, is reported, and replaced by the next query;
 * so is one that nobody answers on.
 */
export function serverPool(
  url: Secret | undefined,
  onConnectionError: (error: Error) => void,
  connections = 12,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url?.reveal(),
    // It connects whenever a query needs a connection, which may be anybody's.
    stream: () => allowedSocket('database'),
    max: connections,
    connectionTimeoutMillis: statementTimeoutMilliseconds,
    statement_timeout: statementTimeoutMilliseconds,
    idle_in_transaction_session_timeout: statementTimeoutMilliseconds,
    keepAlive: true,
  })
  pool.on('connect', (client) => client.on('error', onConnectionError))
  // The pool repeats what the listener above has reported of an idle connection, and demands that somebody hears it.
  pool.on('error', () => {})
  endWhenHeldTooLong(pool)
  return pool
}

/**
 * Ends a connection that was taken out and is not given back in time. The database ends slow statements by itself; one
 * that is frozen or out of reach does not, and would keep every connection for ever.
 */
function endWhenHeldTooLong(pool: pg.Pool): void {
  const deadlines = new WeakMap<pg.PoolClient, NodeJS.Timeout>()
  pool.on('acquire', (client) => {
    deadlines.set(
      client,
      setTimeout(() => void client.end(), heldMillisecondsMax),
    )
  })
  pool.on('release', (_error, client) => clearTimeout(deadlines.get(client)))
}

const attemptsMax = 4

/**
 * Runs `work` in a transaction, again where the database says that two transactions met. Inside it only `tx` may be
 * used: on the embedded database, another connection would wait for this one for ever.
 */
export async function transaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  let acts: (() => void)[] = []
  const result = await retrying(() =>
    db.transaction().execute((tx) => {
      acts = []
      actsAfter.set(tx, acts)
      return work(tx)
    }),
  )
  for (const act of acts) act()
  return result
}

/** Runs `work` in the transaction that `db` is, or else in one of its own. */
export function withinTransaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return isTransaction(db) ? work(db) : transaction(db, work)
}

function isTransaction(db: Database): db is Transaction {
  return db.isTransaction
}

const actsAfter = new WeakMap<Transaction, (() => void)[]>()

/** Does something as soon as a transaction is committed, and never if it is not. It must be quick, and not fail. */
export function afterCommit(tx: Transaction, act: () => void): void {
  const acts = actsAfter.get(tx)
  if (!acts) throw new Error('What is to follow a commit needs a transaction of `transaction`.')
  acts.push(act)
}

/**
 * Does it again where the database says that two transactions met (`40001`, `40P01`, and `55P03` where one would not
 * wait for the other): then this one did nothing.
 */
async function retrying<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === attemptsMax || !isConflict(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * attempt))
    }
  }
}

/** Whether the database itself refused a statement, and so has undone it; what was cut off may have happened. */
function changedNothing(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isUnavailable(error)
}

function isConflict(error: unknown): boolean {
  const code = databaseCode(error)
  return code === '40001' || code === '40P01' || code === '55P03'
}

/** Whether a row was refused because its key is taken; `constraint` narrows it to one constraint. */
export function isTaken(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}

/** Whether the database found the values themselves wrong: malformed (class 22) or against a constraint (class 23). */
export function isUnfit(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** Whether nothing could be written because the database can only be read at present, as a standby can. */
export function isReadOnly(error: unknown): boolean {
  return databaseCode(error) === '25006'
}

/** Whether the database is away, or can only be read, rather than the statement wrong: the caller may try again. */
export function isUnavailable(error: unknown): boolean {
  const code = databaseCode(error)
  if (
    code !== undefined &&
    /^(08|53|57P0|58|57014|25006|25P03|40001|40P01|55P03|ECONN|ETIMEDOUT|EPIPE|ENOTFOUND|EAI_AGAIN)/.test(code)
  )
    return true
  return (
    error instanceof Error &&
    /Connection terminated|timeout exceeded when trying to connect|not queryable/.test(error.message)
  )
}
