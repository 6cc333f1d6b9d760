import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePorts } from '../../tools/ports.ts'
import { openTestDatabase, reopenStorage } from './database.ts'
import { verifyInvariants } from './invariants.ts'
import { makeMigratedDirectory } from './migrated-database.ts'

export { freePorts }

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
/** V8 flags of this process are passed on to the product. */
const ownFlags = process.execArgv.filter((flag) => flag === '--liftoff-only')
export const testAdminToken = 'a-token-for-tests-of-at-least-32-characters'

/** Running product as apps and browsers see it, at the URLs in its settings. */
export type Served = Awaited<ReturnType<typeof prepareService>>
export type Service = Awaited<ReturnType<typeof startService>>

type Options = {
  environment?: Record<string, string>
  dataDirectory?: string
  embedded?: boolean
  /** False for a service that changes its rows as no honest one does. */
  isVerified?: boolean
}

/**
 * Prepares the requirements of a service: free ports, and a database. That is an embedded one in a directory that is
 * removed at the end, or with `TEST_DATABASE_URL` one on that PostgreSQL, unless `embedded`.
 *
 * Without a given directory, the embedded one is already migrated. The caller must stop the service before `close`,
 * which fails if the database violates an invariant.
 */
export async function prepareService({
  environment = {},
  dataDirectory,
  embedded = false,
  isVerified = true,
}: Options = {}) {
  const database = embedded ? undefined : await openTestDatabase()
  const makeDirectory = database ? () => mkdtemp(join(tmpdir(), 'countersign-')) : makeMigratedDirectory
  const directory = dataDirectory ?? (await makeDirectory())
  const [api, auth, business] = await freePorts(3)
  const { NODE_COMPILE_CACHE: compiled } = process.env
  const hosts = {
    BASE_URL: `http://localhost:${api}`,
    AUTH_URL: `http://localhost:${auth}`,
    BUSINESS_URL: `http://localhost:${business}`,
  }
  const settings = {
    PATH: process.env['PATH'] ?? '',
    ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    ...hosts,
    DATA_DIR: directory,
    ADMIN_TOKEN: testAdminToken,
    LOG_LEVEL: 'warn',
    WORKERS: '1',
    TRUST_PROXY: 'off',
    ...(database && { DATABASE_URL: database.url, SECRET_KEY: 'a-secret-key-for-tests-of-32-characters' }),
    ...environment,
  }
  return {
    baseUrl: settings.BASE_URL,
    authUrl: settings.AUTH_URL,
    businessUrl: settings.BUSINESS_URL,
    admin: { authorization: `Bearer ${testAdminToken}` },
    settings,
    async close() {
      try {
        if (isVerified) await verifyDatabase(settings)
      } finally {
        await database?.drop()
        await rm(directory, { recursive: true, force: true })
      }
    },
  }
}

/** Starts the product as a separate process. Resolves when it logs that it is ready. */
export async function startService(options: Options = {}) {
  const service = await prepareService(options)
  let running = launch(service.settings)
  await running.ready
  return {
    ...service,
    get process() {
      return running.process
    },
    output: () => running.output(),
    wrote: (enough: (output: string) => boolean) => running.wrote(enough),
    /** Starts it again on the same data, after it has ended. */
    async restart() {
      running = launch(service.settings)
      await running.ready
    },
    /** Ends the process by a signal; returns its exit code, or the signal that killed it. */
    end: (signal: NodeJS.Signals = 'SIGTERM') => end(running.process, signal),
    /** Stops and removes it; fails if the database violates an invariant. */
    async close() {
      await end(running.process, 'SIGTERM')
      await service.close()
    },
  }
}

/**
 * Starts another process on the database of a service, with its own ports; it is stopped and removed at the end of the
 * test.
 */
export async function startBeside(
  t: TestContext,
  { settings }: Service,
): Promise<{ baseUrl: string; authUrl: string }> {
  const [api, auth, business] = await freePorts(3)
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  const baseUrl = `http://localhost:${api}`
  const hosts = { AUTH_URL: `http://localhost:${auth}`, BUSINESS_URL: `http://localhost:${business}` }
  const second = launch({ ...settings, DATA_DIR: directory, BASE_URL: baseUrl, ...hosts })
  t.after(async () => {
    await end(second.process, 'SIGKILL')
    await rm(directory, { recursive: true })
  })
  await second.ready
  return { baseUrl, authUrl: hosts.AUTH_URL }
}

/**
 * Starts another process that serves the same URLs as a service, as behind a proxy: at one port for all hosts, which
 * the `Host` header names. It is stopped and removed at the end of the test.
 */
export async function startBehind(t: TestContext, { settings }: Service): Promise<number> {
  const [port = 0] = await freePorts(1)
  const directory = await mkdtemp(join(tmpdir(), 'countersign-'))
  const another = launch({ ...settings, DATA_DIR: directory, PORT: String(port) })
  t.after(async () => {
    await end(another.process, 'SIGKILL')
    await rm(directory, { recursive: true })
  })
  await another.ready
  return port
}

/** Checks the database of a service that has ended. */
async function verifyDatabase({ DATABASE_URL, DATA_DIR }: { DATABASE_URL?: string; DATA_DIR: string }) {
  const storage = await reopenStorage(DATABASE_URL, DATA_DIR)
  try {
    await storage.withDedicatedConnection((db) => verifyInvariants(db, new Date()))
  } finally {
    await storage.close()
  }
}

/**
 * Starts the product, or another program around it, with exactly these settings. `ready` rejects with its output if it
 * ends instead. With `channel: 'ipc'` this process and the other one can send each other messages.
 */
export function launch(
  settings: Record<string, string>,
  { program = main, channel }: { program?: string; channel?: 'ipc' } = {},
) {
  const stdio = ['ignore' as const, 'pipe' as const, 'pipe' as const, ...(channel ? [channel] : [])]
  const child = spawn(process.execPath, [...ownFlags, program], { env: settings, stdio })
  const { stdout, stderr } = child
  if (!stdout || !stderr) throw new Error('the output of the service is not read')
  let written = ''
  const closed = once(child, 'close').then(() => Promise.reject(new Error(`the service ended: ${written}`)))
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      written += chunk.toString('utf8')
      if (written.includes('is ready.')) resolve()
    }
    stdout.on('data', read)
    stderr.on('data', read)
    closed.catch(reject)
  })
  return {
    process: Object.assign(child, { stdout, stderr }),
    ready,
    output: () => written,
    /** Resolves when its output is sufficient. Log lines may be written after the answer of a request. */
    async wrote(enough: (output: string) => boolean): Promise<void> {
      while (!enough(written)) await Promise.race([once(stdout, 'data'), closed])
    },
  }
}

/** Returns the process IDs of all workers that have ever been ready, latest last, from the log at level `info`. */
export function workersOf(output: string): number[] {
  return [...output.matchAll(/"pid":(\d+),"msg":"worker ready"/g)].map(([, pid]) => Number(pid))
}

export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, 'close')
    child.kill(signal)
    await closed
  }
  return child.exitCode ?? child.signalCode
}
