// Must be the first imports: a library could keep references to Node's functions, or use a thread, when it is loaded.
import './egress-guard.ts'
import './thread-pool.ts'
import cluster from 'node:cluster'
import { announce } from './banner.ts'
import { ConfigError, loadConfig } from '#platform/config/config.ts'
import { start, superviseWorkers, type Running } from './app.ts'
import { createWorkshop, type Workshop } from '#platform/pictures/workshop.ts'
import { serveAsWorker, WorkerExitError } from '#platform/process/workers.ts'

const deploymentMilliseconds = 8000
const keyboardMilliseconds = 1000

if (cluster.isWorker) ignoreSignals()
try {
  const config = loadConfig(process.env)
  const supervises = cluster.isPrimary && config.workers > 1
  const workshop = createWorkshop()
  if (!supervises && process.permission) startWorkshop(workshop)
  // Under Node's permission model, processes that serve requests may start neither a process nor a thread, even if the
  // command allows it: a thread begins with all permissions of the command.
  process.permission?.drop('worker')
  if (!supervises) process.permission?.drop('child')
  const running = supervises ? await superviseWorkers(config) : await start(config, undefined, workshop)
  if (cluster.isWorker)
    serveAsWorker({ end: (milliseconds) => void end(running, milliseconds), readMetrics: running.readMetrics })
  else {
    // Runs before the announcement, because a reader of it may end the process at once.
    handleSignals(running)
    process.stdout.on('error', ignoreFullDisk)
    process.stdout.write(announce(config, running, process.stdout.isTTY))
  }
} catch (error) {
  if (error instanceof WorkerExitError) process.exit(error.exitCode)
  const obstacle = obstacleToListening(error)
  if (obstacle !== undefined) fail(obstacle)
  if (error instanceof ConfigError) fail(error.message)
  throw error
}

/** Starts the thread for pictures while this process may still start one. */
function startWorkshop(workshop: Workshop): void {
  if (!process.permission?.has('worker'))
    throw new ConfigError('Node may not start a thread for pictures. Add --allow-worker to the command.')
  workshop.start()
}

/** Ignores that the announcement cannot be written, for example on a full disk. Without its reader the process ends. */
function ignoreFullDisk(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') throw error
}

/** Handles signals: a deployment waits until pending requests are answered, a terminal user not as long. */
function handleSignals(running: Running): void {
  process.once('SIGTERM', () => void end(running, deploymentMilliseconds))
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130))
    void end(running, keyboardMilliseconds)
  })
}

/**
 * Ignores signals in a worker, which ends on request of its primary: a terminal and some supervisors signal every
 * process.
 */
function ignoreSignals(): void {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => {})
}

async function end(running: Running, withinMilliseconds: number): Promise<void> {
  await running.stop(withinMilliseconds)
  process.exit(0)
}

function fail(sentence: string): never {
  process.stderr.write(`${sentence}\n`)
  process.exit(1)
}

/** Describes in one line why the service cannot listen. Returns undefined for other errors. */
function obstacleToListening(error: unknown): string | undefined {
  const entries = Object.entries(error instanceof Error ? error : {})
  const fields = new Map(entries.map(([name, value]): [string, string] => [name, String(value)]))
  if (fields.get('syscall') !== 'listen') return undefined
  switch (fields.get('code') ?? '') {
    case 'EADDRINUSE':
      return `Port ${fields.get('port')} is in use: stop what listens there, or set another port in the URLs.`
    case 'EACCES':
      return `Port ${fields.get('port')} is not allowed for this user. Set PORT above 1023 and put a proxy in front.`
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return `HOST contains ${fields.get('address')}, which is not an address of this machine. Correct it or unset it.`
    default:
      return undefined
  }
}
