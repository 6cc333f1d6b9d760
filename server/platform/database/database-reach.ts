import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigError } from '#platform/config-error.ts'
import type { Secret } from '#platform/crypto/secret.ts'

const patienceMilliseconds = 10_000
const restMilliseconds = 500
/** It may be starting: nobody listens, or it says so itself (57P03), or its name is not known yet for a moment. */
const notYet = /^(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EAI_AGAIN|57P03)$/
const timedOut = /timeout/i

/**
 * Resolves when PostgreSQL at `url` takes connections. Waits for one that is starting, for ten seconds. Throws
 * `ConfigError` where it does not come, or does not let this service in.
 */
export async function reachDatabase(
  pool: Pick<pg.Pool, 'query'>,
  url: Secret,
  onWaiting: (reason: string) => void,
): Promise<void> {
  const endsAt = performance.now() + patienceMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    try {
      await pool.query('select 1')
      return
    } catch (error) {
      if (!isStarting(error) || performance.now() > endsAt) throw obstacleOf(error, url) ?? error
      if (attempt === 1) onWaiting(databaseCode(error) ?? 'no answer')
      await pass(restMilliseconds)
    }
  }
}

function isStarting(error: unknown): boolean {
  const code = databaseCode(error)
  return code === undefined ? error instanceof Error && timedOut.test(error.message) : notYet.test(code)
}

/** What keeps the service from the database, in one line; undefined where that is none of the setting's. */
export function obstacleOf(error: unknown, url: Secret): ConfigError | undefined {
  if (error instanceof ConfigError) return error
  const { host, user, database } = describeUrl(url)
  const code = databaseCode(error) ?? (isStarting(error) ? 'no answer' : '')
  const said = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : ''
  if (notYet.test(code) || code === 'no answer')
    return new ConfigError(
      `DATABASE_URL leads to ${host}, where no PostgreSQL answers (${code}): start one, or correct it.`,
    )
  switch (code) {
    case 'ENOTFOUND':
      return new ConfigError(`DATABASE_URL leads to ${host}, which is not the name of any machine: correct it.`)
    case '3D000':
      return new ConfigError(
        `DATABASE_URL names the database ${database}, which ${host} does not have: create it, or correct the name.`,
      )
    case '28P01':
      return new ConfigError(
        `DATABASE_URL has a user or password that ${host} refuses (user ${user}): correct it, or create the user.`,
      )
    case '28000':
      return new ConfigError(`DATABASE_URL has a user whom ${host} refuses (${said}): correct it, or create the user.`)
    case '42501':
      return new ConfigError(
        `DATABASE_URL has a user who may not make tables (${said}): let ${user} own the database ${database}.`,
      )
    default:
      return isOfConnection(code, said)
        ? new ConfigError(`DATABASE_URL leads to ${host}, which cannot be used (${said}): correct it.`)
        : undefined
  }
}

/** Errors of TLS, whether the certificate or that there is none, and of a server that takes no more connections. */
function isOfConnection(code: string, said: string): boolean {
  return code === '53300' || /CERT|TLS|SSL/.test(code) || /SSL|certificate/.test(said)
}

/** The parts of the URL that may be shown: never the password. */
function describeUrl(url: Secret): { host: string; user: string; database: string } {
  const { hostname, port, username, pathname, searchParams } = new URL(url.reveal())
  const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : hostname)
  const user = decodeURIComponent(username)
  const database = decodeURIComponent(pathname.slice(1)) || user
  return { host: host.startsWith('/') ? host : `${host}:${port === '' ? '5432' : port}`, user, database }
}

/** The code of PostgreSQL, or of Node, by which a statement or a connection failed. */
export function databaseCode(error: unknown): string | undefined {
  if (error instanceof AggregateError) return databaseCode(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
