// Before all others: a library could take Node's functions aside when it is loaded.
import './egress-guard.ts'
import cluster from 'node:cluster'
import { announce } from './banner.ts'
import { ConfigError, readConfig } from '#platform/config/config.ts'
import { start, superviseWorkers, type Running } from './app.ts'
import { serveAsWorker, WorkerEnded } from '#platform/process/workers.ts'

const deploymentMilliseconds = 8000
const keyboardMilliseconds = 1000

if (cluster.isWorker) ignoreSignals()
try {
  const config = readConfig(process.env)
  const supervises = cluster.isPrimary && config.workers > 1
  // Under Node's permission model, whoever answers requests may not start another process, whatever the command allows.
  if (!supervises) process.permission?.drop('child')
  const running = supervises ? await superviseWorkers(config) : await start(config)
  if (cluster.isWorker)
    serveAsWorker({ end: (milliseconds) => void end(running, milliseconds), readMetrics: running.readMetrics })
  else {
    // Before it is announced: whoever reads there that it is ready may end it.
    heedSignals(running)
    process.stdout.write(announce(config, running.storage, process.stdout.isTTY))
  }
} catch (error) {
  if (error instanceof WorkerEnded) process.exit(error.exitCode)
  const obstacle = obstacleToListening(error)
  if (obstacle !== undefined) fail(obstacle)
  if (error instanceof ConfigError) fail(error.message)
  throw error
}

/** A deployment waits until what was asked is answered, a person at a keyboard not so long. */
function heedSignals(running: Running): void {
  process.once('SIGTERM', () => void end(running, deploymentMilliseconds))
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130))
    void end(running, keyboardMilliseconds)
  })
}

/** A worker ends when its primary says so: a terminal and some supervisors send their signals to every process. */
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

/** What keeps the service from listening, in one line; undefined where the error is another. */
function obstacleToListening(error: unknown): string | undefined {
  const entries = Object.entries(error instanceof Error ? error : {})
  const fields = new Map(entries.map(([name, value]): [string, string] => [name, String(value)]))
  if (fields.get('syscall') !== 'listen') return undefined
  switch (fields.get('code') ?? '') {
    case 'EADDRINUSE':
      return `Port ${fields.get('port')} is in use: stop what listens there, or set another port in the URLs.`
    case 'EACCES':
      return `Port ${fields.get('port')} is not for this user: set PORT to one above 1023, and have a proxy lead there.`
    case 'EADDRNOTAVAIL':
    case 'EAFNOSUPPORT':
      return `HOST names ${fields.get('address')}, which is no address of this machine: correct it, or unset it.`
    default:
      return undefined
  }
}
