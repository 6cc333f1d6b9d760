import { setTimeout as pass } from 'node:timers/promises'
import type pg from 'pg'
import { ConfigError } from '#platform/config-error.ts'
import type { Secret } from '#platform/crypto/secret.ts'

const patienceMilliseconds = 10_000
const restMilliseconds = 500
/** Errors of a database that may be starting: connection refused, 57P03, or a name that does not resolve yet. */
const notYet = /^(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|EAI_AGAIN|57P03)$/
/** What a proxy or pooler says while another database becomes the primary, and a server without free connections. */
const refusedNow = /^(?:08...|53300|25006)$/
const withoutAnswer = /timeout|Connection terminated/i

/**
 * Waits up to ten seconds until PostgreSQL at `url` accepts connections. Throws `ConfigError` if it does not, or if it
 * rejects the login.
 */
export async function reachDatabase(
  pool: Pick<pg.Pool, 'query'>,
  url: Secret,
  onWaiting: (reason: string) => void,
): Promise<void> {
  const expiresAt = performance.now() + patienceMilliseconds
  for (let attempt = 1; ; attempt += 1) {
    try {
      await pool.query('select 1')
      return
    } catch (error) {
      if (!isStarting(error) || performance.now() > expiresAt) throw obstacleOf(error, url) ?? error
      if (attempt === 1) onWaiting(databaseCode(error) ?? 'no answer')
      await pass(restMilliseconds)
    }
  }
}

function isStarting(error: unknown): boolean {
  const code = databaseCode(error)
  if (code === undefined) return error instanceof Error && withoutAnswer.test(error.message)
  return (notYet.test(code) || refusedNow.test(code)) && missingFile(error) === undefined
}

/** Returns the path of a file that the URL names and that does not exist. A missing socket is not such a file. */
function missingFile(error: unknown): string | undefined {
  if (databaseCode(error) !== 'ENOENT' || !(error instanceof Error) || !('syscall' in error)) return undefined
  return error.syscall !== 'connect' && 'path' in error ? String(error.path) : undefined
}

/** Describes in one line why the database cannot be used. Returns undefined if the setting is not the cause. */
export function obstacleOf(error: unknown, url: Secret): ConfigError | undefined {
  if (error instanceof ConfigError) return error
  const { host, user, database } = describeUrl(url)
  const code = databaseCode(error) ?? (isStarting(error) ? 'no answer' : '')
  const said = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : ''
  const file = missingFile(error)
  if (file !== undefined)
    return new ConfigError(`DATABASE_URL names the file ${file}, which does not exist. Correct the path.`)
  if (notYet.test(code) || code === 'no answer')
    return new ConfigError(
      `DATABASE_URL leads to ${host}, where no PostgreSQL responds (${code}). Start it or correct the URL.`,
    )
  switch (code) {
    case '25006':
      return new ConfigError(
        `DATABASE_URL leads to ${host}, which is read-only. Wait for a primary or correct the URL.`,
      )
    case 'ENOTFOUND':
      return new ConfigError(`DATABASE_URL leads to ${host}, which is an unknown host name. Correct it.`)
    case '3D000':
      return new ConfigError(
        `DATABASE_URL names the database ${database}, which does not exist on ${host}. Create it or correct the name.`,
      )
    case '28P01':
      return new ConfigError(
        `DATABASE_URL has a user or password that ${host} rejects (user ${user}). Correct it or create the user.`,
      )
    case '28000':
      return new ConfigError(`DATABASE_URL has a user that ${host} rejects (${said}). Correct it or create the user.`)
    case '42501':
      return new ConfigError(
        `DATABASE_URL has a user without permission to create tables (${said}). Make ${user} the owner of ${database}.`,
      )
    default:
      return isOfConnection(code, said)
        ? new ConfigError(`DATABASE_URL leads to ${host}, which cannot be used (${said}). Correct it.`)
        : undefined
  }
}

/** Checks for TLS errors, with or without a certificate, and for a server or pooler that accepts no connection. */
function isOfConnection(code: string, said: string): boolean {
  return refusedNow.test(code) || /CERT|TLS|SSL/.test(code) || /SSL|certificate/.test(said)
}

/** Returns the parts of the URL that may be shown, never the password. */
function describeUrl(url: Secret): { host: string; user: string; database: string } {
  const { hostname, port, username, pathname, searchParams } = new URL(url.reveal())
  const host = searchParams.get('host') ?? (hostname === '' ? 'localhost' : hostname)
  const user = decodeURIComponent(username)
  const database = decodeURIComponent(pathname.slice(1)) || user
  return { host: host.startsWith('/') ? host : `${host}:${port === '' ? '5432' : port}`, user, database }
}

/** Returns the error code of PostgreSQL or Node for a failed statement or connection. */
export function databaseCode(error: unknown): string | undefined {
  if (error instanceof AggregateError) return databaseCode(error.errors[0])
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}
