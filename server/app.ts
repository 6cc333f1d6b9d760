import cluster from 'node:cluster'
import { systemClock } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import { openStorage, type Storage } from '#platform/database/database.ts'
import { reportEgress } from '#platform/egress.ts'
import { generatedSecret, keptSecret } from '#platform/config/data-directory.ts'
import type { Kernel } from '#platform/module/services.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { createLog, type Logger } from '#platform/observability/log.ts'
import { createMailer } from '#platform/outbound/mail.ts'
import type { Family } from '#platform/observability/metrics.ts'
import { createNameServers } from '#platform/outbound/name-servers.ts'
import { openPages } from '#platform/http/page.ts'
import { createOutbound } from '#platform/outbound/fetch.ts'
import { createRateLimits, noRateLimits } from '#platform/rate-limits/rate-limit.ts'
import { hasKeys } from '#tokens/signing-keys/key-rotation.ts'
import { startLogoutSender } from '#oauth/logout/sender.ts'
import { openSigningKeys } from '#tokens/signing-keys/signing-keys.ts'
import { startSender } from '#clients/webhooks/sender.ts'
import { mountHosts } from '#platform/process/mount.ts'
import { startJobs } from '#platform/process/jobs.ts'
import { listen, requireFreePorts } from '#platform/process/listeners.ts'
import { listenForMetrics } from '#platform/process/metrics-listener.ts'
import { openTelemetry } from '#platform/observability/server-telemetry.ts'
import { isFirstProcess, startWorkers } from '#platform/process/workers.ts'

/** The service, and how it is stopped: answers what was asked, but waits no longer than this. */
export type Running = {
  storage: 'embedded' | 'PostgreSQL'
  /** What this process has measured, where metrics are on. */
  readMetrics: () => Family[]
  stop: (withinMilliseconds: number) => Promise<void>
}

/** Starts the service in this process. Throws `ConfigError` where a setting stands in the way. */
export async function start(config: Config): Promise<Running> {
  const { log, flush } = createReportingLog(config)
  const pages = await openPages(config)
  const storage = await openStorageOf(config, log)
  const { telemetry, readMetrics, ...telling } = openTelemetry(config, log, storage)
  const kernel: Kernel = {
    config,
    db: storage.db,
    prepared: storage.prepared,
    gathered: storage.gathered,
    alone: storage.alone,
    clock: systemClock,
    log,
    telemetry,
    rateLimits: config.rateLimits
      ? createRateLimits({
          clock: systemClock,
          shared: config.databaseUrl && storage.prepared,
          numbers: config.rateLimitNumbers,
          onRefusal: telemetry.limited,
        })
      : noRateLimits,
    keyring: createKeyring(config.secretKeys ?? [await secretKeyOf(storage, config)]),
    mail: await createMailer(config.mail, log),
    outbound: createOutbound(config),
    nameServers: createNameServers(config),
    adminToken: config.adminToken ?? (await generatedSecret(config.dataDirectory, 'admin-token')),
  }
  const hosts = await mountHosts(kernel, storage, pages)
  const listeners = await listen(hosts, kernel)
  const stopMetrics = cluster.isPrimary ? await serveMetrics(config, async () => readMetrics()) : undefined
  const jobs = isFirstProcess() ? startJobs(kernel) : undefined
  const sender = startSender(kernel)
  const logoutSender = startLogoutSender({ kernel, keys: await openSigningKeys(kernel) })
  return {
    storage: config.databaseUrl ? 'PostgreSQL' : 'embedded',
    readMetrics,
    async stop(withinMilliseconds) {
      await listeners.drain(withinMilliseconds)
      await Promise.all([jobs?.stop(), sender.stop(), logoutSender.stop()])
      await stopMetrics?.()
      await telling.close()
      await storage.close()
      await flush()
    },
  }
}

/**
 * Starts the service as several processes over one PostgreSQL, and looks after them. What they share is made before
 * them: the schema, and what the data directory keeps. Throws `ConfigError` and `WorkerEnded`.
 */
export async function superviseWorkers(config: Config): Promise<Running> {
  const { log, flush } = createReportingLog(config)
  await requireFreePorts(config)
  const storage = await openStorageOf(config, log)
  await storage.close()
  if (!config.adminToken) await generatedSecret(config.dataDirectory, 'admin-token')

  const workers = await startWorkers({
    count: config.workers,
    log,
    onGivingUp: (exitCode) => void flush().then(() => process.exit(exitCode)),
  })
  const stopMetrics = await serveMetrics(config, workers.readMetrics)
  return {
    storage: 'PostgreSQL',
    readMetrics: () => [],
    async stop(withinMilliseconds) {
      await workers.stop(withinMilliseconds)
      await stopMetrics?.()
      await flush()
    },
  }
}

/** The log, which also hears of connections that are not allowed. */
function createReportingLog({ logLevel }: Config): ReturnType<typeof createLog> {
  const opened = createLog(logLevel)
  reportEgress((error) =>
    opened.log.error({ error, destination: error.destination }, 'outbound connection not allowed'),
  )
  return opened
}

/** The root of encryption at rest that is kept in the data directory; made only where nothing was sealed with one. */
async function secretKeyOf({ db }: Storage, { dataDirectory }: Config) {
  const keep = (await hasKeys(db)) ? keptSecret : generatedSecret
  return keep(dataDirectory, 'secret-key')
}

async function serveMetrics({ listenAddresses, metricsPort }: Config, read: () => Promise<Family[]>) {
  return metricsPort === undefined ? undefined : listenForMetrics({ listenAddresses, metricsPort }, read)
}

function openStorageOf(config: Config, log: Logger): Promise<Storage> {
  return openStorage({
    url: config.databaseUrl,
    directory: config.dataDirectory,
    connections: connectionsOf(config),
    onPanic(message) {
      // Whatever reaches the backend next would spin for ever; the supervisor starts us anew.
      process.stderr.write(`The embedded database has given up (${message}); the process ends.\n`)
      process.exit(70)
    },
    onWaiting: (reason) => log.warn({ reason }, 'waiting for the database'),
    onConnectionError: (error) => log.warn({ error }, 'a database connection was lost'),
  })
}

/** Connections of one process: together no more than a PostgreSQL takes as it comes (100), less some for others. */
function connectionsOf({ workers }: Config): number {
  return Math.max(4, Math.min(12, Math.floor(80 / workers)))
}
