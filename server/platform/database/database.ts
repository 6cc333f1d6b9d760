import type { Kysely, Transaction as KyselyTransaction } from 'kysely'
import pg from 'pg'
import { databaseCode, obstacleOf, reachDatabase } from './database-reach.ts'
import { readReplicas, toSharded, type Replicas } from './distributed/engine.ts'
import type { Embedded, Listeners } from './embedded.ts'
import { createStatementBatcher, type BatchedQuery, type BatchStatement } from './batching.ts'
import { migrate } from './migrate.ts'
import { openKysely, runTransaction } from './pipeline.ts'
import { longSilentMillisecondsMax, onOwnConnection, readOnlyCode, serverPool } from './server-pool.ts'
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
  /** Called by the embedded database. */
  listeners: Listeners
  onConnectionError: (error: Error) => void
  /** Called while waiting for PostgreSQL to respond, or for the locks of a migration. */
  onWaiting: (reason: string) => void
}

// A day has no time zone: as a `Date` it would be another one in some.
pg.types.setTypeParser(pg.types.builtins.DATE, (text) => text)

const gatheredUnderWayMax = 2

/**
 * Opens and migrates the database: PostgreSQL at `url`, or an embedded PostgreSQL without a URL. Throws `ConfigError`
 * if it does not respond in time or rejects the login.
 */
export async function openStorage({
  url,
  directory,
  connections,
  statementNames,
  listeners,
  onConnectionError,
  onWaiting,
}: Opening): Promise<Storage> {
  const embedded = url ? undefined : await openEmbedded(directory, listeners)
  const pool = embedded?.pool ?? serverPool(url, onConnectionError, connections)
  try {
    if (url) await reachDatabase(pool, url, onWaiting)
    // A migration may take long, and waits for those of other processes, so only TCP tells that the database is gone.
    await (url ? onOwnConnection(url.reveal(), 0, (own) => migrate(own, onWaiting)) : migrate(pool))
  } catch (error) {
    await (embedded?.close() ?? pool.end())
    throw (url && obstacleOf(error, url)) ?? error
  }
  const replicas = embedded ? undefined : await readReplicas(pool)
  return createStorage(pool, { closeAll: embedded?.close, statementNames, replicas })
}

/** Loads the embedded database only where there is no other. */
async function openEmbedded(directory: string, listeners: Listeners): Promise<Embedded> {
  const { openEmbeddedDatabase } = await import('./embedded.ts')
  return openEmbeddedDatabase(directory, listeners)
}

type Engine = {
  closeAll?: (() => Promise<void>) | undefined
  statementNames?: boolean
  replicas?: Replicas | undefined
}

/**
 * Creates storage over a pool whose database is migrated, and distributed if it has replicas. `closeAll` replaces the
 * end of the pool.
 */
export function createStorage(pool: pg.Pool, { closeAll, statementNames = true, replicas }: Engine = {}): Storage {
  const prepared = async <Row extends object>(statement: Statement, values: unknown[]) => {
    const { text } = statement
    const name = statementNames ? statement.name : undefined
    const { rows } = await retrying(() => pool.query<Row>({ name, text, values }))
    return rows
  }
  const underWayMax = Math.min(gatheredUnderWayMax, pool.options.max)
  const db = openKysely<Tables>(statementNames ? withStatementNames(pool) : pool, replicas)
  const { connectionString } = pool.options
  return {
    db,
    prepared,
    batched: (statement) =>
      createStatementBatcher(replicas ? toSharded(statement) : statement, {
        run: (...sent) => prepared(...sent),
        underWayMax,
        changedNothing: isRolledBack,
      }),
    withDedicatedConnection: (work) =>
      connectionString === undefined
        ? work(db)
        : onOwnConnection(connectionString, longSilentMillisecondsMax, (own) =>
            work(openKysely<Tables>(own, replicas)),
          ),
    async ping() {
      await pool.query('select 1')
    },
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: closeAll ?? (() => pool.end()),
  }
}

const attemptsMax = 4

/**
 * Runs `work` in a transaction, and retries it on a conflict of transactions. Only `tx` may be used inside: with the
 * embedded database, another connection would wait for this one forever.
 */
export async function transaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  let acts: AfterCommit[] = []
  const result = await retrying(() =>
    runTransaction(db, 'begin', (tx) => {
      acts = []
      actsAfter.set(tx, acts)
      return work(tx)
    }),
  )
  await Promise.all(acts.map(async (act) => act()))
  return result
}

/** Runs work in a transaction that is not retried, because the work consumes what it reads elsewhere. */
export function transactionOnce<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return runTransaction(db, 'begin', work)
}

/** Reads with several statements what was there at one instant. Only `tx` may be used inside, as in `transaction`. */
export function snapshot<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return runTransaction(db, 'start transaction isolation level repeatable read read only', work)
}

/** Runs `work` in the transaction `db`, or in a new one. */
export function ensureTransaction<Result>(db: Database, work: (tx: Transaction) => Promise<Result>): Promise<Result> {
  return isTransaction(db) ? work(db) : transaction(db, work)
}

/** Tells whether statements run in a transaction. */
export function isTransaction(db: Database): db is Transaction {
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

/**
 * Checks for a violation of a unique constraint with this name. That of a shard ends with the number of the shard, and
 * may be in the message alone.
 */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  if (!(error instanceof pg.DatabaseError) || error.code !== '23505') return false
  if (error.constraint === undefined) return error.message.includes(`${constraint}_`)
  return error.constraint.replace(/_\d{6,}$/, '') === constraint
}

/** Checks for invalid values: malformed (class 22) or against a constraint (class 23). */
export function isDataException(error: unknown): boolean {
  return error instanceof pg.DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** Checks whether a write failed because the database is read-only, such as a standby. */
export function isReadOnly(error: unknown): boolean {
  return databaseCode(error) === readOnlyCode
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
