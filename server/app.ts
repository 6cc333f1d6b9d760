import cluster from 'node:cluster'
import type { Server } from 'node:http'
import { rest, systemClock } from '#platform/clock.ts'
import { remindOfAddresses } from './banner.ts'
import { type Config, logsAsText } from '#platform/config/config.ts'
import { openStorage, type Storage } from '#platform/database/database.ts'
import { openLargeReads } from '#platform/database/replica/replica.ts'
import { reportEgress } from '#platform/egress.ts'
import { loadOrGenerateSecret, loadStoredSecret } from '#platform/config/data-directory.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { createKeyring } from '#platform/crypto/keyring.ts'
import { createLog, type Logger } from '#platform/observability/log.ts'
import { createMailer } from '#platform/outbound/mail.ts'
import { configuredProcesses, type MetricFamily } from '#platform/observability/metrics.ts'
import { createDnsResolver } from '#platform/outbound/dns-resolver.ts'
import { loadPages, type Pages } from '#platform/http/page.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { createOutboundClient } from '#platform/outbound/fetch.ts'
import { applyRateLimitNumbers, createRateLimits, noRateLimits } from '#platform/rate-limits/rate-limit.ts'
import { offerSetup, type SetupLink } from '#accounts/operators/setup.ts'
import { hasKeys } from '#tokens/signing-keys/rotation.ts'
import { startJobs } from '#platform/process/jobs.ts'
import { listen, requireFreePorts } from '#platform/process/listeners.ts'
import { listenForMetrics } from '#platform/process/metrics-listener.ts'
import { openTelemetry } from '#platform/observability/telemetry.ts'
import { isFirstProcess, startWorkers } from '#platform/process/workers.ts'
import { openSettings, withCurrentBrand } from '#platform/settings/current-settings.ts'
import { modules, rateLimitPolicies } from './modules.ts'
import { mountModules, openServices, startBackground } from './services.ts'

/** The running service. Stopping it completes pending requests within a time limit. */
export type Running = {
  storage: 'embedded' | 'PostgreSQL'
  /** Undefined if the service has an operator. Only the first process offers it. */
  setup: SetupLink | undefined
  /** Returns the metrics of this process, if metrics are on. */
  readMetrics: () => Promise<MetricFamily[]>
  /** The HTTP servers of this process. None if it only supervises workers. */
  servers: readonly Server[]
  stop: (withinMilliseconds: number) => Promise<void>
}

/** Starts the service in this process, with the built pages or others. Throws `ConfigError` for an invalid setting. */
export async function start(given: Config, builtPages?: Pages, workshop?: Workshop): Promise<Running> {
  // Checked first: a wrong name must not be found after the database was migrated.
  const policies = applyRateLimitNumbers(rateLimitPolicies, given.rateLimitNumbers)
  const { log, flush } = createReportingLog(given)
  const pages = builtPages ?? (await loadPages(given))
  const storage = await openStorageOf(given, log)
  const settings = await openSettings({ config: given, db: storage.db })
  const config = withCurrentBrand(given, settings)
  const largeReads = openLargeReads({
    url: config.databaseReadUrl,
    storage,
    onObstacle: (reason) =>
      reason === undefined ? log.info('replica in use again') : log.warn({ reason }, 'replica not used'),
  })
  const { telemetry, readMetrics, ...telling } = openTelemetry(config, log, storage)
  const kernel: ServerContext = {
    config,
    db: storage.db,
    prepared: storage.prepared,
    batched: storage.batched,
    alone: storage.withDedicatedConnection,
    largeReads,
    clock: systemClock,
    log,
    telemetry,
    rateLimits: config.rateLimits
      ? createRateLimits({
          clock: systemClock,
          shared: config.databaseUrl && storage.prepared,
          policies,
          onRefusal: telemetry.limited,
        })
      : noRateLimits,
    keyring: createKeyring(config.secretKeys ?? [await secretKeyOf(storage, config)]),
    mail: await createMailer({ config, log, clock: systemClock }),
    settings,
    outbound: createOutboundClient(config),
    dns: createDnsResolver(config),
    adminToken: await adminTokenOf(config),
  }
  const services = await openServices(kernel, pages, workshop)
  const hosts = await mountModules(services, storage)
  const listeners = await listen(hosts, kernel)
  const stopMetrics = cluster.isPrimary
    ? await serveMetrics(config, async () => [...(await readMetrics()), configuredProcesses(1)])
    : undefined
  const setup = cluster.isPrimary ? await offerSetup(storage.db, config, systemClock()) : undefined
  const background = [...startBackground(services), ...(isFirstProcess() ? [startJobs(kernel, modules)] : [])]
  return {
    storage: config.databaseUrl ? 'PostgreSQL' : 'embedded',
    setup,
    readMetrics,
    servers: listeners.servers,
    async stop(withinMilliseconds) {
      const begunAt = performance.now()
      await listeners.drain(withinMilliseconds)
      await Promise.all(background.map((work) => work.stop()))
      await within(begunAt + withinMilliseconds - performance.now(), kernel.mail.idle())
      await stopMetrics?.()
      await telling.close()
      await largeReads.close()
      await storage.close()
      await flush()
    },
  }
}

/** Waits for work, at most this long. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  const ended = new AbortController()
  await Promise.race([work, rest(milliseconds, ended.signal)])
  ended.abort()
}

/**
 * Starts the service as several processes over one PostgreSQL, and supervises them. Creates what they share before: the
 * schema and the contents of the data directory. Throws `ConfigError` or `WorkerExitError`.
 */
export async function superviseWorkers(config: Config): Promise<Running> {
  const { log, flush } = createReportingLog(config)
  applyRateLimitNumbers(rateLimitPolicies, config.rateLimitNumbers)
  await requireFreePorts(config)
  const storage = await openStorageOf(config, log)
  await adminTokenOf(config)
  const setup = await offerSetup(storage.db, config, systemClock())
  await storage.close()

  const workers = await startWorkers({
    count: config.workers,
    log,
    onGivingUp: (exitCode) => void flush().then(() => process.exit(exitCode)),
  })
  const stopMetrics = await serveMetrics(config, workers.readMetrics)
  return {
    storage: 'PostgreSQL',
    setup,
    readMetrics: async () => [],
    servers: [],
    async stop(withinMilliseconds) {
      await workers.stop(withinMilliseconds)
      await stopMetrics?.()
      await flush()
    },
  }
}

/** Creates the log, which also records blocked outbound connections. */
function createReportingLog(config: Config): ReturnType<typeof createLog> {
  const isText = logsAsText(config, process.stdout.isTTY)
  const colors = config.logColors && process.stdout.isTTY
  const opened = createLog(config.logLevel, isText ? { colors, reminder: remindOfAddresses(config) } : undefined)
  reportEgress((error) => opened.log.error({ error, destination: error.destination }, 'outbound connection blocked'))
  return opened
}

/**
 * Loads the root key of encryption at rest from the data directory. Creates it only if nothing was encrypted before.
 */
async function secretKeyOf({ db }: Storage, { dataDirectory }: Config) {
  const keep = (await hasKeys(db)) ? loadStoredSecret : loadOrGenerateSecret
  return keep(dataDirectory, 'secret-key')
}

/** Returns the token of the admin API, which is created at the first start, or undefined if there is none. */
async function adminTokenOf({ adminToken, dataDirectory }: Config) {
  return adminToken === 'off' ? undefined : (adminToken ?? loadOrGenerateSecret(dataDirectory, 'admin-token'))
}

async function serveMetrics({ listenAddresses, metricsPort }: Config, read: () => Promise<MetricFamily[]>) {
  return metricsPort === undefined ? undefined : listenForMetrics({ listenAddresses, metricsPort }, read)
}

function openStorageOf(config: Config, log: Logger): Promise<Storage> {
  return openStorage({
    url: config.databaseUrl,
    directory: config.dataDirectory,
    connections: connectionsOf(config),
    statementNames: config.statementNames,
    listeners: {
      onPanic(message) {
        // Any further request to the backend would spin forever, so the supervisor must restart the process.
        process.stderr.write(`The embedded database has given up (${message}); the process ends.\n`)
        process.exit(70)
      },
      onUpkeepError: (error) => log.warn({ error }, 'upkeep of the embedded database failed'),
    },
    onWaiting: (reason) => log.warn({ reason }, 'waiting for the database'),
    onConnectionError: (error) => log.warn({ error }, 'database connection lost'),
  })
}

/**
 * Returns the number of connections of one process. All together stay below PostgreSQL's default maximum (100), with a
 * reserve for other clients.
 */
function connectionsOf({ workers }: Config): number {
  return Math.max(4, Math.min(12, Math.floor(80 / workers)))
}
