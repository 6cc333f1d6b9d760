import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import type { Secret } from '#platform/crypto/secret.ts'
import { databaseCode } from '../database-reach.ts'
import { type Database, isUnavailable, type Storage } from '../database.ts'
import { isDistributed } from '../distributed/engine.ts'
import { openKysely } from '../pipeline.ts'
import { longSilentMillisecondsMax, onOwnConnection, serverPool } from '../server-pool.ts'
import type { ClientPool } from '../statement-names.ts'
import type { Tables } from '../tables.ts'
import { type Position, readPosition, readStandbyState, type StandbyState } from './store.ts'

/**
 * Large reads of operators, which a replica may serve instead of the primary. A read sees all that was committed on the
 * primary when it began, wherever it runs. Nothing that decides anything is read here: no token, session, permission or
 * rate limit.
 */
export type LargeReads = {
  /** Begins a series of reads, such as the pages of an export. Each sees all that was committed before the first. */
  begin: () => Read
  /**
   * Runs one read on a connection of its own, without a time limit. The work calls `begin` before it does anything else
   * than reading, and is not run again after that.
   */
  readAlone: <Result>(work: (db: Database, begin: () => void) => Promise<Result>) => Promise<Result>
  close: () => Promise<void>
}

/** Runs work that only reads, and does nothing else: if the replica fails, it runs again on the primary. */
export type Read = <Result>(work: (db: Database) => Promise<Result>) => Promise<Result>

type Opening = {
  /** The replica. Undefined if there is none. */
  url: Secret | undefined
  /** The primary. */
  storage: Pick<Storage, 'db' | 'withDedicatedConnection'>
  /** Called with the reason why the replica serves no reads, when it changes; with undefined when it does again. */
  onObstacle: (reason: string | undefined) => void
  /** For how long a read waits until the replica has what the primary had. */
  patienceMilliseconds?: number
  /** Time for which a replica that could not serve a read is left alone. */
  restMilliseconds?: number
}

const connectionsMax = 2
const pollMilliseconds = 10
const walPageBytes = 8192n
const walPageHeaderBytesMax = 40n

/** Opens large reads. It neither waits for the replica nor requires it. */
export function openLargeReads(opening: Opening): LargeReads {
  const { url, storage, onObstacle } = opening
  // A standby of the coordinator does not have the rows of the shards.
  if (url && !isDistributed(storage.db)) return openReplica(url, opening)
  if (url) onObstacle('the database is distributed')
  return {
    begin: () => (work) => work(storage.db),
    readAlone: (work) => storage.withDedicatedConnection((db) => work(db, () => {})),
    close: async () => {},
  }
}

function openReplica(
  url: Secret,
  { storage, onObstacle, patienceMilliseconds = 2000, restMilliseconds = 30_000 }: Opening,
): LargeReads {
  const { db: primary, withDedicatedConnection } = storage
  // The next read notices if an idle connection broke.
  const pool = serverPool(url, () => {}, connectionsMax)
  const obstacles = watchObstacles(onObstacle, restMilliseconds)

  /** Finds what the primary has now, unless the replica cannot serve a read anyway. */
  async function findPosition(): Promise<Position | undefined> {
    if (obstacles.areExpected()) return undefined
    try {
      return await readPosition(primary)
    } catch (error) {
      if (isUnavailable(error)) throw error
      obstacles.report(error)
      return undefined
    }
  }

  async function prefer<Result>(
    position: Position | undefined,
    { onReplica, onPrimary, hasBegun = () => false }: Ways<Result>,
  ): Promise<Result> {
    if (!position || obstacles.areExpected()) return onPrimary()
    try {
      const result = await onReplica({ primary, position, patienceMilliseconds })
      obstacles.report(undefined)
      return result
    } catch (error) {
      const isOver = hasBegun()
      // After that, other errors are of the client.
      if (!isOver || isUnavailable(error) || databaseCode(error) !== undefined) obstacles.report(error)
      if (isOver) throw error
    }
    return onPrimary()
  }

  return {
    begin() {
      let position: Promise<Position | undefined> | undefined
      return async (work) =>
        prefer(await (position ??= findPosition()), {
          onReplica: (required) => onStandby(pool, required, work),
          onPrimary: () => work(primary),
        })
    },
    async readAlone(work) {
      let hasBegun = false
      const begin = () => void (hasBegun = true)
      return prefer(await findPosition(), {
        async onReplica(required) {
          // A connection without a time limit would wait long for a replica that is silent.
          await onStandby(pool, required, async () => {})
          return onOwnConnection(url.reveal(), longSilentMillisecondsMax, (own) =>
            onStandby(own, required, (db) => work(db, begin)),
          )
        },
        onPrimary: () => withDedicatedConnection((db) => work(db, begin)),
        hasBegun: () => hasBegun,
      })
    },
    close: () => pool.end(),
  }
}

/** How a read runs in either place, and whether it has begun to do more than reading. */
type Ways<Result> = {
  onReplica: (required: Required) => Promise<Result>
  onPrimary: () => Promise<Result>
  hasBegun?: () => boolean
}

/** Remembers why the replica serves no reads. */
function watchObstacles(onChange: Opening['onObstacle'], restMilliseconds: number) {
  let reason: string | undefined
  let expectedUntil = 0
  return {
    areExpected: () => performance.now() < expectedUntil,
    report(error: unknown): void {
      const found = error === undefined ? undefined : (databaseCode(error) ?? messageOf(error))
      expectedUntil = found === undefined ? 0 : performance.now() + restMilliseconds
      if (found === reason) return
      reason = found
      onChange(found)
    },
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** What a standby must have, where that is, and for how long it is waited for. */
type Required = { primary: Database; position: Position; patienceMilliseconds: number }

/**
 * Runs work on one connection to a standby that has replayed everything up to a position. It is the connection that was
 * checked: behind a proxy, another one may lead to another standby.
 */
async function onStandby<Result>(
  pool: pg.Pool,
  required: Required,
  work: (db: Database) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  // Between two statements, recovery ends the connection, and the next statement does not tell why.
  let lost: Error | undefined
  const note = (error: Error) => void (lost ??= error)
  client.on('error', note)
  let hasFailed = true
  try {
    const db = openKysely<Tables>(poolOf(client, pool))
    await requireReplayed(db, required)
    const result = await work(db)
    hasFailed = false
    return result
  } catch (error) {
    throw databaseCode(error) === undefined ? (lost ?? error) : error
  } finally {
    client.off('error', note)
    client.release(hasFailed)
  }
}

/** Returns a pool of one connection, which the caller releases. */
function poolOf(client: pg.PoolClient, { options }: pg.Pool): ClientPool {
  const instead = {
    query: (text: string, values: unknown[]) => client.query(text, values),
    release: () => {},
  }
  const kept = new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(Object.hasOwn(instead, property) ? instead : target, property)
      return value
    },
  })
  return { options, connect: async () => kept, end: async () => {} }
}

/** Waits until a standby has replayed everything up to a position. Throws if it does not, or if its history differs. */
async function requireReplayed(
  standby: Database,
  { primary, position, patienceMilliseconds }: Required,
): Promise<void> {
  const expiresAt = performance.now() + patienceMilliseconds
  for (;;) {
    const state = await readStandbyState(standby)
    if (!state?.isInRecovery) throw new Error('it is no standby')
    if (state.system !== position.system || state.database !== position.database)
      throw new Error('it is a standby of another database')
    // Places in the WAL can be compared only within one timeline: a standby that has not followed a promotion may have
    // replayed more than the primary has written, and lack what it has written since.
    if (state.timeline !== position.timeline) throw new Error('it has not followed the primary to its timeline')
    if (!state.sendsFeedback) throw new Error('hot_standby_feedback is off')
    if (hasReplayed(state, position) && state.schema === position.schema)
      return requireSameHistory(state, state.replayed > position.end ? await readPosition(primary) : position)
    if (performance.now() > expiresAt) throw new Error('it is behind the primary')
    await pass(pollMilliseconds)
  }
}

/**
 * The end of the primary's history is where its next record would begin: behind the header of a page, if the last
 * record ends with a page. No record is as short as these headers.
 */
function hasReplayed({ replayed }: StandbyState, { end }: Position): boolean {
  return replayed >= end || (replayed % walPageBytes === 0n && end - replayed <= walPageHeaderBytesMax)
}

/**
 * A standby replays only what the primary has written. If it has more, the primary was set back to an earlier copy of
 * itself, which leaves the timeline as it was.
 */
function requireSameHistory({ replayed, timeline }: StandbyState, present: Position | undefined): void {
  if (!present || present.timeline !== timeline || replayed > present.end)
    throw new Error('it has what the primary does not have')
}
