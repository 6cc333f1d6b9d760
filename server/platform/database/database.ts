import { Kysely, PostgresDialect, type Transaction as KyselyTransaction } from 'kysely'
import { Socket } from 'node:net'
import pg from 'pg'
import { databaseCode, obstacleOf, reachDatabase } from './database-reach.ts'
import { allowedSocket } from '#platform/egress.ts'
import { openEmbeddedDatabase } from './embedded.ts'
import { createStatementBatcher, type BatchedQuery, type BatchStatement } from './batching.ts'
import { migrate } from './migrate.ts'
import { withStatementNames } from './statement-names.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { Tables } from './tables.ts'

export type Database = Kysely<Tables>
export type Transaction = KyselyTransaction<Tables>

/** A statement that PostgreSQL plans once per connection: its name, and its text with `$1`-style parameters. */
export type Statement = { name: string; text: string }

/** Runs a prepared statement in one round trip and one commit. */
export type PreparedQuery = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>

export type Storage = {
  db: Database
  prepared: PreparedQuery
  /** Prepares a statement for hot paths, which concurrent callers share. Everything else uses Kysely. */
  batched: <Row extends object>(statement: BatchStatement) => BatchedQuery<Row>
  /**
   * Runs slow work on a dedicated connection without a time limit. The embedded database has one connection, so
   * everything else waits.
   */
  withDedicatedConnection: <Result>(work: (db: Database) => Promise<Result>) => Promise<Result>
  /** Resolves if the database responds; rejects if it does not. */
  ping: () => Promise<void>
  /** Returns the number of connections, for metrics. */
  connections: () => { open: number; idle: number; waiting: number }
  close: () => Promise<void>
}

type Opening = {
  url: Secret | undefined
  /** Directory of the embedded database, if there is no URL. */
  directory: string
  /** Maximum number of connections to the PostgreSQL at `url`. */
  connections: number
  /** False if the database cannot keep prepared statements between transactions. */
  statementNames: boolean
  onPanic: (message: string) => void
  onConnectionError: (error: Error) => void
  /** Called while waiting for PostgreSQL to respond, or for the locks of a migration. */
  onWaiting: (reason: string) => void
}

// A day has no time zone: as a `Date` it would be another one in some.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)

const gatheredUnderWayMax = 2
const statementTimeoutMilliseconds = 5000
const longWorkTimeoutMilliseconds = 60_000
/** Time after which the pool closes a connection that no caller uses. */
const idleMillisecondsMax = 10_000
/** Time after which a used connection over which nothing is sent or received is closed. */
const silentMillisecondsMax = statementTimeoutMilliseconds + 1000
/** The same for slow work, whose statements the database ends itself if it responds. */
const longSilentMillisecondsMax = longWorkTimeoutMilliseconds + 10_000
/** Node then asks every second, ten times. */
const keepAliveMilliseconds = 10_000

/**
 * Opens and migrates the database: PostgreSQL at `url`, or an embedded PostgreSQL without a URL. Throws `ConfigError`
 * if it does not respond in time or rejects the login.
 */
export async function openStorage({
  url,
  directory,
  connections,
  statementNames,
  onPanic,
  onConnectionError,
  onWaiting,
}: Opening): Promise<Storage> {
  const embedded = url ? undefined : await openEmbeddedDatabase(directory, onPanic)
  const pool = embedded?.pool ?? serverPool(url, onConnectionError, connections)
  try {
    if (url) await reachDatabase(pool, url, onWaiting)
    // A migration may take long, and waits for those of other processes, so only TCP tells that the database is gone.
    await (url ? onOwnConnection(url.reveal(), 0, (own) => migrate(own, onWaiting)) : migrate(pool))
  } catch (error) {
    await (embedded?.close() ?? pool.end())
    throw (url && obstacleOf(error, url)) ?? error
  }
  return createStorage(pool, embedded?.close, statementNames)
}

/** Creates storage over a pool whose database is migrated. `closeAll` replaces the end of the pool. */
export function createStorage(pool: pg.Pool, closeAll?: () => Promise<void>, statementNames = true): Storage {
  const prepared = async <Row extends object>(statement: Statement, values: unknown[]) => {
    const { text } = statement
    const name = statementNames ? statement.name : undefined
    const { rows } = await retrying(() => pool.query<Row>({ name, text, values }))
    return rows
  }
  const underWayMax = Math.min(gatheredUnderWayMax, pool.options.max)
  const dialect = new PostgresDialect({ pool: statementNames ? withStatementNames(pool) : pool })
  const db = new Kysely<Tables>({ dialect })
  const { connectionString } = pool.options
  return {
    db,
    prepared,
    batched: (statement) =>
      createStatementBatcher(statement, {
        run: (...sent) => prepared(...sent),
        underWayMax,
        changedNothing: isRolledBack,
      }),
    withDedicatedConnection: (work) => (connectionString === undefined ? work(db) : alone(connectionString, work)),
    async ping() {
      await pool.query('select 1')
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: closeAll ?? (() => pool.end()),
  }
}

function alone<Result>(url: string, work: (db: Database) => Promise<Result>): Promise<Result> {
  const onPool = (pool: pg.Pool) => work(new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) }))
  return onOwnConnection(url, longSilentMillisecondsMax, onPool)
}

/** Runs work on a connection that is closed if it is silent for this time; 0 sets no limit. */
export async function onOwnConnection<Result>(
  url: string,
  silentMilliseconds: number,
  work: (pool: pg.Pool) => Promise<Result>,
): Promise<Result> {
  const own = new pg.Pool({
    connectionString: url,
    stream: () => allowedSocket('database'),
    max: 1,
    connectionTimeoutMillis: statementTimeoutMilliseconds,
    statement_timeout: longWorkTimeoutMilliseconds,
    idle_in_transaction_session_timeout: longWorkTimeoutMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
  })
  own.on('connect', (client) => {
    // An error of the connection is reported by the statement that fails.
    client.on('error', () => {})
    const socket = socketOf(client)
    socket.setTimeout(silentMilliseconds, () => socket.destroy(silence()))
  })
  own.on('error', () => {})
  try {
    return await work(own)
  } finally {
    await own.end()
  }
}

/**
 * Creates a pool for PostgreSQL over the network. A connection that breaks, idle or in use, or stops responding is
 * reported and replaced by the next query.
 */
export function serverPool(
  url: Secret | undefined,
  onConnectionError: (error: Error) => void,
  connections = 12,
): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url?.reveal(),
    // The pool connects whenever a query of any caller needs a connection.
    stream: () => allowedSocket('database'),
    max: connections,
    idleTimeoutMillis: idleMillisecondsMax,
    connectionTimeoutMillis: statementTimeoutMilliseconds,
    statement_timeout: statementTimeoutMilliseconds,
    idle_in_transaction_session_timeout: statementTimeoutMilliseconds,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMilliseconds,
  })
  pool.on('connect', (client) => {
    client.once('error', onConnectionError)
    // A connection that breaks reports why, and then that it has ended.
    client.on('error', () => {})
  })
  closeSilentConnections(pool)
  // The pool repeats the errors of idle connections that the listener above reports, and requires a listener.
  pool.on('error', () => {})
  return pool
}

/**
 * Closes a used connection when the database is silent, and with it the idle ones, which would each make another caller
 * wait. The database ends slow statements and idle transactions itself, but an unreachable one does not and would
 * occupy all connections forever. A transaction of many statements may take longer.
 */
function closeSilentConnections(pool: pg.Pool): void {
  const idle = new Set<Socket>()
  pool.on('connect', (client) => {
    const socket = socketOf(client)
    socket.on('timeout', () => {
      for (const silent of new Set([socket, ...idle])) silent.destroy(silence())
    })
    socket.once('close', () => idle.delete(socket))
  })
  pool.on('acquire', (client) => {
    const socket = socketOf(client)
    idle.delete(socket)
    socket.setTimeout(silentMillisecondsMax)
  })
  pool.on('release', (_error, client) => {
    const socket = socketOf(client)
    if (!socket.destroyed) idle.add(socket)
    // The pool ends it before, unless the database does not respond to that.
    socket.setTimeout(idleMillisecondsMax + silentMillisecondsMax)
  })
}

function socketOf(client: pg.ClientBase): Socket {
  if (client instanceof pg.Client && client.connection.stream instanceof Socket) return client.connection.stream
  throw new Error('a connection of the pool has no socket')
}

function silence(): Error {
  return new Error('Connection terminated because the database is silent')
}

const attemptsMax = 4

/**
 * Runs `work` in a transaction, and retries it on a conflict of transactions. Only `tx` may be used inside: with the
 * embedded database, another connection would wait for this one forever.
 */
export async function transaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  let acts: AfterCommit[] = []
  const result = await retrying(() =>
    keepingError((keep) =>
      db.transaction().execute((tx) => {
        acts = []
        actsAfter.set(tx, acts)
        return work(tx).catch(keep)
      }),
    ),
  )
  await Promise.all(acts.map(async (act) => act()))
  return result
}

/** Reads with several statements what was there at one instant. Only `tx` may be used inside, as in `transaction`. */
export function snapshot<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  const begun = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return keepingError((keep) => begun.execute((tx) => work(tx).catch(keep)))
}

/**
 * Throws the first error that was kept, if there is one. Over a broken connection Kysely cannot roll back, and throws
 * that instead of what broke it.
 */
async function keepingError<Result>(work: (keep: (error: unknown) => never) => Promise<Result>): Promise<Result> {
  const kept: unknown[] = []
  const keep = (error: unknown): never => {
    kept.push(error)
    throw error
  }
  return work(keep).catch((error: unknown) => {
    throw kept.length > 0 ? kept[0] : error
  })
}

/** Runs `work` in the transaction `db`, or in a new one. */
export function ensureTransaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return isTransaction(db) ? work(db) : transaction(db, work)
}

function isTransaction(db: Database): db is Transaction {
  return db.isTransaction
}

type AfterCommit = () => Promise<void> | void

const actsAfter = new WeakMap<Transaction, AfterCommit[]>()

/**
 * Runs a function after the transaction commits, and never if it does not. `transaction` waits for it. It must not
 * throw.
 */
export function afterCommit(tx: Transaction, act: AfterCommit): void {
  const acts = actsAfter.get(tx)
  if (!acts) throw new Error('afterCommit needs a transaction of `transaction`')
  acts.push(act)
}

/**
 * Retries work on a conflict of transactions (`40001`, `40P01`, and `55P03` for a lock timeout), which has rolled it
 * back.
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

/**
 * Checks whether the database itself rejected a statement and rolled it back. An interrupted statement may have
 * succeeded.
 */
function isRolledBack(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !isUnavailable(error)
}

function isConflict(error: unknown): boolean {
  const code = databaseCode(error)
  return code === '40001' || code === '40P01' || code === '55P03'
}

/** Checks for a violation of a unique constraint with this name. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505' && error.constraint === constraint
}

/** Checks for invalid values: malformed (class 22) or against a constraint (class 23). */
export function isDataException(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** Checks whether a write failed because the database is read-only, such as a standby. */
export function isReadOnly(error: unknown): boolean {
  return databaseCode(error) === '25006'
}

/**
 * Checks whether the database is unavailable or read-only, as opposed to an invalid statement. The caller can retry.
 */
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
