import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InjectOptions, LightMyRequestResponse as Response } from 'fastify'
import type pg from 'pg'

/** Statement of a request, as it was sent. */
export type Recorded = { request: string; text: string }

/** Folder for the statements of requests: a file of each process, with a `Recorded` as JSON in each line. */
const folder = process.env['TEST_STATEMENTS']

const requests = new AsyncLocalStorage<string>()
const known = new Set<string>()
let lines = ''

if (folder !== undefined) process.once('exit', () => appendFileSync(join(folder, `${process.pid}.jsonl`), lines))

/** Records a statement, unless no request sends it. */
function record(query: unknown): void {
  const request = requests.getStore()
  const text = textOf(query)
  if (request === undefined || text === undefined || known.has(text)) return
  known.add(text)
  const recorded: Recorded = { request, text }
  lines += `${JSON.stringify(recorded)}\n`
}

function textOf(query: unknown): string | undefined {
  if (typeof query === 'string') return query
  const isObject = typeof query === 'object' && query !== null
  return isObject && 'text' in query && typeof query.text === 'string' ? query.text : undefined
}

/**
 * Records the statements that requests send over a pool. What a test sends itself is not recorded, and neither is what
 * the service does on its own.
 */
export function recordStatements(pool: pg.Pool): pg.Pool {
  if (folder === undefined) return pool
  // A statement that waits for a connection gets it while another request returns it.
  const waited = new WeakSet<object>()
  patch(pool, 'query', (query) => {
    if (typeof query === 'object' && query !== null) waited.add(query)
    record(query)
  })
  pool.on('connect', (client) =>
    patch(client, 'query', (query) => {
      if (typeof query !== 'object' || query === null || !waited.has(query)) record(query)
    }),
  )
  return pool
}

/** Calls a function with the first argument of each call of a method. */
function patch<Name extends string>(
  of: Record<Name, (...args: never[]) => unknown>,
  name: Name,
  notice: (argument: unknown) => void,
): void {
  const original = of[name]
  Reflect.set(of, name, (...args: unknown[]) => {
    notice(args[0])
    return Reflect.apply(original, of, args)
  })
}

/** Marks what the requests of a test do, which are all sent by `inject`. */
export function recordRequests(host: Injectable): void {
  if (folder === undefined) return
  const original = host.inject.bind(host)
  host.inject = (options) => requests.run(nameOf(options), async () => original(options))
}

/** Does what a test does itself amid a request: its statements are not recorded. */
export function besideRequest<Result>(work: () => Result): Result {
  return requests.exit(work)
}

type Injectable = { inject: (options: InjectOptions | string) => Promise<Response> }

function nameOf(options: InjectOptions | string): string {
  if (typeof options === 'string') return `GET ${options}`
  return `${options.method ?? 'GET'} ${JSON.stringify(options.url)}`
}
