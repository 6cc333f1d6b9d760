import type pg from 'pg'
import { type PostgresPool, sql } from 'kysely'
import { sha256 } from '#platform/crypto/secret.ts'

/** Texts that a process remembers. One that does not recur among as many others is never named. */
const rememberedMax = 1000
/** A statement with more parameters is that of a long list or of many rows: its text varies with their number. */
const parametersMax = 50
/**
 * Statements that a connection prepares before it is replaced, which frees their memory in the database: 25 to 50 kB
 * each.
 */
const preparedMax = 300

const plannedForValuesText = '/* planned for its values */'

/**
 * Part of a statement that is planned for its values each time, and never prepared. A plan for any values compares each
 * row with a whole list, and can do that for all rows of an identity if statistics are outdated.
 */
export const plannedForValues = sql.raw(plannedForValuesText)

/** Statements that PostgreSQL plans. Others, such as `begin`, are cheaper without preparation. */
const plannedPattern = /^\s*(?:select|insert|update|delete|with)\b/i

/**
 * Creates a function that names statements by their text. It returns undefined for a text that this process has not
 * sent before, and for one that must not be prepared.
 */
function createStatementNames(): (text: string, parameterCount: number) => string | undefined {
  const names = new Map<string, string | undefined>()
  return (text, parameterCount) => {
    if (parameterCount > parametersMax) return undefined
    const recurs = names.has(text)
    const name = names.get(text) ?? (recurs && isPreparable(text) ? nameOf(text) : undefined)
    // A map has its keys in the order in which they were added, so the first is the one not used for longest.
    names.delete(text)
    names.set(text, name)
    if (names.size > rememberedMax) for (const oldest of names.keys().take(1)) names.delete(oldest)
    return name
  }
}

function isPreparable(text: string): boolean {
  return plannedPattern.test(text) && !returnsAllColumns(text) && !text.includes(plannedForValuesText)
}

/**
 * Checks for a `*` outside of parentheses. The columns of a prepared statement may not change, so it would fail as soon
 * as a migration of the next version adds one to its table.
 */
function returnsAllColumns(text: string): boolean {
  let depth = 0
  for (const character of text) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (character === '*' && depth === 0) return true
  }
  return false
}

/** PostgreSQL cuts names after 63 bytes. */
function nameOf(text: string): string {
  return sha256(text).toString('base64url')
}

/** Pool of Kysely whose connections are those of `pg`. */
export type ClientPool = Omit<PostgresPool, 'connect'> & { connect: () => Promise<pg.PoolClient> }

/**
 * Wraps a pool for Kysely, which sends its statements without names. A connection then parses and plans each recurring
 * statement once.
 */
export function withStatementNames(pool: pg.Pool): ClientPool {
  const nameOfText = createStatementNames()
  const known = new WeakMap<pg.PoolClient, pg.PoolClient>()
  return {
    options: pool.options,
    async connect() {
      const client = await pool.connect()
      const naming = known.get(client) ?? namingClient(client, nameOfText)
      known.set(client, naming)
      return naming
    },
    end: () => pool.end(),
  }
}

function namingClient(client: pg.PoolClient, nameOfText: ReturnType<typeof createStatementNames>): pg.PoolClient {
  const prepared = new Set<string>()
  const instead = {
    query(text: string, values: unknown[]) {
      const name = nameOfText(text, values.length)
      if (name !== undefined) prepared.add(name)
      return client.query({ name, text, values })
    },
    release: (destroy?: boolean) => client.release(destroy === true || prepared.size >= preparedMax),
  }
  return new Proxy(client, {
    get(target, property) {
      const value: unknown = Reflect.get(Object.hasOwn(instead, property) ? instead : target, property)
      return value
    },
  })
}
