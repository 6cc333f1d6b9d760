import { execFile, execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { freePorts } from './ports.ts'
import { findPrograms } from './program.ts'

const oldestVersion = 15
export const endingSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** A missing program, in one line that says what to install. */
export class Missing extends Error {}

export type Cluster = AsyncDisposable & {
  /** The maintenance database, in which a test creates databases of its own. */
  url: string
  /** The process id of the server, for measurements. */
  pid: number
  /** Kills the server, as a crash would, and leaves its data. */
  stop: () => Promise<void>
  /** Starts it again on its data and its port. */
  start: () => Promise<void>
}

/**
 * Starts a temporary PostgreSQL server in a folder of its own, on a free port of 127.0.0.1, with a random password. It
 * ends and its folder is deleted when the cluster is disposed or this process ends, also by SIGINT, SIGTERM or SIGHUP.
 * `durable` keeps `fsync` on, which benchmarks need and tests do not. `parent` is the folder to create its folder in.
 * Throws `Missing` if PostgreSQL is not installed.
 */
export async function startPostgres({ durable = false, parent = tmpdir() } = {}): Promise<Cluster> {
  const bin = newestInstallation()
  const owner = unprivilegedOwner()
  const folder = mkdtempSync(join(parent, 'countersign-postgres-'))
  const password = randomBytes(16).toString('hex')
  try {
    if (owner) chownSync(folder, owner.uid, owner.gid)
    initialize(bin, folder, password, owner)
    const durability = durable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
    return await serve({ bin, folder, owner, password, settings: durability })
  } catch (error) {
    removeFolder(folder)
    throw error
  }
}

/** Starts a hot standby of a cluster, with the same users, in the same way. `settings` are further ones of its own. */
export function startStandby(primary: Pick<Cluster, 'url'>, settings: string[] = []): Promise<Cluster> {
  const feedback = ['hot_standby_feedback=on', 'wal_receiver_status_interval=1']
  return startCopy(primary, { settings: [...feedback, ...settings], isStandby: true })
}

/** Starts a copy of a cluster as it is now, which is then a cluster of its own, or a standby. */
export async function startCopy(
  { url }: Pick<Cluster, 'url'>,
  { settings = [], isStandby = false }: { settings?: string[]; isStandby?: boolean } = {},
): Promise<Cluster> {
  const bin = newestInstallation(['initdb', 'pg_basebackup'])
  const owner = unprivilegedOwner()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-postgres-'))
  try {
    if (owner) chownSync(folder, owner.uid, owner.gid)
    // Without a slot, a checkpoint may remove what the standby has not received yet.
    const slot = `standby_${randomBytes(4).toString('hex')}`
    const following = isStandby ? ['--write-recovery-conf', '--create-slot', `--slot=${slot}`] : []
    const parameters = ['-d', url, '-D', join(folder, 'data'), '--checkpoint=fast', '--no-sync', ...following]
    await promisify(execFile)(join(bin, 'pg_basebackup'), parameters, { cwd: folder, ...owner })
    const { password } = new URL(url)
    return await serve({ bin, folder, owner, password, settings: ['fsync=off', ...settings] })
  } catch (error) {
    removeFolder(folder)
    throw error
  }
}

type Prepared = { bin: string; folder: string; owner: Owner; password: string; settings: string[] }

async function serve({ bin, folder, owner, password, settings }: Prepared): Promise<Cluster> {
  const [port] = await freePorts(1)
  const all = [...settings, `port=${port}`, 'listen_addresses=127.0.0.1', 'max_connections=300']
  const options = all.flatMap((setting) => ['-c', setting])
  const launch = () =>
    spawn(join(bin, 'postgres'), ['-D', join(folder, 'data'), '-k', folder, ...options], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      ...owner,
    })
  let server = launch()
  const end = endWithProcess(() => server, folder)
  await readiness(server)
  return {
    url: `postgres://postgres:${password}@127.0.0.1:${port}/postgres`,
    get pid() {
      return server.pid ?? 0
    },
    stop: () => stop(server),
    async start() {
      server = launch()
      await readiness(server)
    },
    [Symbol.asyncDispose]: end,
  }
}

/** Finds the folder of the newest supported PostgreSQL that has these programs. */
export function newestInstallation(programs = ['initdb']): string {
  const folders = ['/usr/lib/postgresql/*/bin', '/usr/pgsql-*/bin', '/opt/homebrew/opt/postgresql@*/bin']
  const installations = findPrograms('postgres', folders)
    .map((program) => ({ bin: dirname(program), version: versionOf(program) }))
    .filter(({ bin, version }) => version >= oldestVersion && programs.every((name) => existsSync(join(bin, name))))
    .toSorted((a, b) => b.version - a.version)
  const newest = installations[0]
  if (!newest) throw new Missing(`PostgreSQL ${oldestVersion} or newer is required: apt-get install postgresql`)
  return newest.bin
}

/** Returns 15 for `postgres (PostgreSQL) 15.18 (Debian …)`. */
function versionOf(program: string): number {
  const text = execFileSync(program, ['--version'], { encoding: 'utf8' })
  return Number(/\) (\d+)/.exec(text)?.[1] ?? 0)
}

/** PostgreSQL refuses to run as root. As root, it runs as the user that its package created. */
export function unprivilegedOwner(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const idOf = (option: string) => Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

type Owner = ReturnType<typeof unprivilegedOwner>

function initialize(bin: string, folder: string, password: string, owner: Owner): void {
  const passwordFile = join(folder, 'password')
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (owner) chownSync(passwordFile, owner.uid, owner.gid)
  const options = ['--username=postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  const locale = ['--encoding=UTF8', '--no-locale', '--no-sync']
  execFileSync(join(bin, 'initdb'), ['-D', join(folder, 'data'), ...options, ...locale], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    ...owner,
  })
}

/** Resolves when the server accepts connections; rejects with its output if it ends before. */
async function readiness(server: ChildProcess): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let words = ''
  server.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-4000)
    if (/database system is ready to accept (?:read-only )?connections/.test(words)) resolve()
  })
  server.once('error', reject)
  server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${words}`)))
  await promise
}

/** SIGQUIT is PostgreSQL's immediate shutdown: it writes no checkpoint, and what it acknowledged is in its log. */
async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  server.kill('SIGQUIT')
  await once(server, 'exit')
}

/** Binds the server to the life of this process, and returns the function that ends it earlier. */
function endWithProcess(running: () => ChildProcess, folder: string): () => Promise<void> {
  const atExit = () => {
    running().kill('SIGQUIT')
    removeFolder(folder)
  }
  const atSignal = (_: string, number: number) => process.exit(128 + number)
  process.once('exit', atExit)
  for (const signal of endingSignals) process.once(signal, atSignal)

  return async () => {
    process.off('exit', atExit)
    for (const signal of endingSignals) process.off(signal, atSignal)
    await stop(running())
    removeFolder(folder)
  }
}

/**
 * Removes the folder, with retries: a server that is ending may still write into it, and an exit handler cannot await
 * it. `rmSync` reports no error in that case (Node 26.10), so the folder is checked.
 */
export function removeFolder(folder: string): void {
  for (let attempt = 0; attempt < 40 && existsSync(folder); attempt++) {
    if (attempt > 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    rmSync(folder, { recursive: true, force: true })
  }
}
