import { Socket } from 'node:net'
import pg from 'pg'
import type { Secret } from '#platform/crypto/secret.ts'
import { allowedSocket } from '#platform/egress.ts'

/** Code of the error for a write that the database rejects because it is read-only. */
export const readOnlyCode = '25006'

const statementTimeoutMilliseconds = 5000
const longWorkTimeoutMilliseconds = 60_000
/** The longest that the database accepts. The client does not send a zero, and the role may have a limit. */
const unlimitedMilliseconds = 2 ** 31 - 1
/** Time after which the pool closes a connection that no caller uses. */
const idleMillisecondsMax = 10_000
/** Time after which a used connection over which nothing is sent or received is closed. */
const silentMillisecondsMax = statementTimeoutMilliseconds + 1000
/** The same for slow work, whose statements the database ends itself if it responds. */
export const longSilentMillisecondsMax = longWorkTimeoutMilliseconds + 10_000
/** Node then asks every second, ten times. */
const keepAliveMilliseconds = 10_000

/** Returns how further connections reach the database of a pool. The embedded one has a single connection. */
export function urlOf(pool: pg.Pool): string | undefined {
  return pool.options.connectionString
}

/** Runs work on a connection that is closed if it is silent for this time; 0 sets no limit, and none to statements. */
export async function onOwnConnection<Result>(
  url: string,
  silentMilliseconds: number,
  work: (pool: pg.Pool) => Promise<Result>,
): Promise<Result> {
  const own = new pg.Pool({
    connectionString: url,
    stream: () => allowedSocket('database'),
    max: 1,
    pipeline: true,
    connectionTimeoutMillis: statementTimeoutMilliseconds,
    statement_timeout: silentMilliseconds === 0 ? unlimitedMilliseconds : longWorkTimeoutMilliseconds,
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
    pipeline: true,
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
  closeReadOnlyConnections(pool)
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

/**
 * Closes a connection, when its caller has released it, over which the database has rejected a write as read-only. It
 * may lead to a former primary, and the next connection to the present one.
 */
function closeReadOnlyConnections(pool: pg.Pool): void {
  const readOnly = new WeakSet<pg.ClientBase>()
  pool.on('connect', (client) => {
    if (!(client instanceof pg.Client)) return
    client.connection.on('errorMessage', ({ code }: pg.DatabaseError) => {
      if (code === readOnlyCode) readOnly.add(client)
    })
  })
  pool.on('release', (_error, client) => {
    // The pool keeps no client that is ending.
    if (readOnly.has(client)) void client.end()
  })
}

function socketOf(client: pg.ClientBase): Socket {
  if (client instanceof pg.Client && client.connection.stream instanceof Socket) return client.connection.stream
  throw new Error('a connection of the pool has no socket')
}

function silence(): Error {
  return new Error('Connection terminated because the database is silent')
}
