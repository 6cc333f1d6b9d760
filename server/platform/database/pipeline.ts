import type { Writable } from 'node:stream'
import {
  type Compilable,
  type CompiledQuery,
  type DatabaseConnection,
  type DialectAdapter,
  DummyDriver,
  Kysely,
  type KyselyConfig,
  type QueryResult,
  type RawBuilder,
  Transaction,
} from 'kysely'
import pg from 'pg'
import { databaseCode } from './database-reach.ts'
import { createDialect, type Replicas } from './distributed/engine.ts'
import type { ClientPool } from './statement-names.ts'

/** The database refuses a statement with this code (in_failed_sql_transaction) because an earlier one failed. */
const failedTransaction = '25P02'

/**
 * A transaction that sends statements before those before them are answered ("pipelining"). What is sent in one turn
 * of the event loop shares a packet: a transaction needs as many round trips as its work awaits results, and not one
 * for each statement. The database still executes the statements in order, and none after one that failed.
 */
class Pipeline implements DatabaseConnection {
  readonly #client: pg.PoolClient
  readonly #stream: Writable
  #isCorked = false
  #hasEnded = false
  #isBroken = false
  /** The last error of a statement, which is why the database refuses those after it. */
  #failure: Error | undefined

  constructor(client: pg.PoolClient) {
    this.#client = client
    this.#stream = streamOf(client)
  }

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { command, rowCount, rows } = await this.#send<Row & pg.QueryResultRow>(sql, [...parameters])
    const changes = /^(?:INSERT|UPDATE|DELETE|MERGE)$/.test(command)
    return { rows, ...(changes && { numAffectedRows: BigInt(rowCount ?? 0) }) }
  }

  streamQuery(): never {
    throw new Error('a transaction reads no streams')
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined
  }

  /** Sends a statement whose failure is noticed by those after it, at the latest by `commit`. */
  sendAhead(sql: string, parameters: readonly unknown[] = []): void {
    // What follows reports it: the database refuses every statement after one that failed.
    this.#send(sql, [...parameters]).catch(() => {})
  }

  /** Commits. Throws why a statement failed, if one did: then the database has rolled back. */
  async commit(): Promise<void> {
    const { command } = await this.#send('commit', [])
    this.#hasEnded = true
    if (command === 'ROLLBACK') throw this.#failure ?? new Error('the database rolled a transaction back')
  }

  /** Rolls back, unless the transaction has ended. Never throws: a connection that cannot is not used again. */
  async rollBack(): Promise<void> {
    if (this.#hasEnded) return
    this.#hasEnded = true
    await this.#client.query('rollback', []).catch(() => (this.#isBroken = true))
  }

  release(): void {
    this.#client.release(this.#isBroken)
  }

  async #send<Row extends pg.QueryResultRow>(text: string, values: unknown[]): Promise<pg.QueryResult<Row>> {
    if (this.#hasEnded) throw new Error('the transaction has ended')
    this.#collect()
    try {
      return await this.#client.query<Row>(text, values)
    } catch (error) {
      if (databaseCode(error) === failedTransaction && this.#failure !== undefined) throw this.#failure
      this.#failure = error instanceof Error ? error : undefined
      throw error
    }
  }

  /** Holds what is sent from here to the end of this turn, and then writes it at once. */
  #collect(): void {
    if (this.#isCorked) return
    this.#isCorked = true
    this.#stream.cork()
    process.nextTick(() => {
      this.#isCorked = false
      this.#stream.uncork()
    })
  }
}

function streamOf(client: pg.PoolClient): Writable {
  if (client instanceof pg.Client) return client.connection.stream
  throw new Error('a connection of the pool has no stream')
}

/** Begins a transaction: of reads and writes, or of reads of one instant. */
export type Beginning = 'begin' | 'start transaction isolation level repeatable read read only'

type Origin = { pool: ClientPool; config: KyselyConfig }

/** Where databases come from, by their adapters: plugins make another database with the same one. */
const origins = new WeakMap<DialectAdapter, Origin>()

/** Opens Kysely over a pool, for single statements and for `runTransaction`. A distributed database has replicas. */
export function openKysely<Tables>(pool: ClientPool, replicas?: Replicas): Kysely<Tables> {
  const config = { dialect: createDialect(pool, replicas) }
  const db = new Kysely<Tables>(config)
  origins.set(db.getExecutor().adapter, { pool, config })
  return db
}

/**
 * Runs work in a transaction. Throws the error of the work, or of a statement that failed, after it has rolled back.
 */
export async function runTransaction<Tables, Result>(
  db: Kysely<Tables>,
  beginning: Beginning,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const origin = db.isTransaction ? undefined : origins.get(db.getExecutor().adapter)
  if (!origin) throw new Error('a transaction begins on a database, and not within a transaction')
  const { pool, config } = origin
  const pipeline = new Pipeline(await pool.connect())
  try {
    pipeline.sendAhead(beginning)
    const executor = db.getExecutor().withConnectionProvider({ provideConnection: (consumer) => consumer(pipeline) })
    const tx = new Transaction<Tables>({ config, dialect: config.dialect, driver: new DummyDriver(), executor })
    pipelines.set(tx, pipeline)
    const result = await work(tx)
    await pipeline.commit()
    return result
  } catch (error) {
    await pipeline.rollBack()
    throw error
  } finally {
    pipeline.release()
  }
}

const pipelines = new WeakMap<object, Pipeline>()

/** Tells whether a statement of a transaction has failed: the database then refuses others. */
export function hasFailed<Tables>(tx: Transaction<Tables>): boolean {
  return pipelines.get(tx)?.hasFailed === true
}

/**
 * Sends a statement of a transaction whose result nothing depends on, with those that follow. If it fails, so does the
 * transaction.
 */
export function sendAhead<Tables>(tx: Transaction<Tables>, statement: Compilable | RawBuilder<unknown>): void {
  const pipeline = pipelines.get(tx)
  if (!pipeline) throw new Error('sendAhead needs a transaction of `transaction`')
  const { sql, parameters } = statement.compile(tx)
  pipeline.sendAhead(sql, parameters)
}
