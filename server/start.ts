import { systemClock } from '#kernel/clock.ts'
import type { Config } from '#kernel/config.ts'
import { openStorage } from '#kernel/database.ts'
import { generatedSecret } from '#kernel/generated-secrets.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { createKeyring } from '#kernel/keyring.ts'
import { createLog } from '#kernel/log.ts'
import { openPages } from '#kernel/page.ts'
import { createRateLimits, noRateLimits } from '#kernel/rate-limit.ts'
import { mountHosts } from './hosts.ts'
import { startJobs } from './jobs.ts'
import { listen } from './listeners.ts'

/** The service, and how it is stopped: answers what was asked, but waits no longer than this. */
export type Running = { storage: 'embedded' | 'PostgreSQL'; stop: (withinMilliseconds: number) => Promise<void> }

/** Starts the service as it is configured. Throws `ConfigError` where a setting stands in the way. */
export async function start(config: Config): Promise<Running> {
  const { log, flush } = createLog(config.logLevel)
  const pages = await openPages(config.baseUrl)
  const storage = await openStorage({
    url: config.databaseUrl,
    directory: config.dataDirectory,
    onPanic(message) {
      // Whatever reaches the backend next would spin for ever; the supervisor starts us anew.
      process.stderr.write(`The embedded database has given up (${message}); the process ends.\n`)
      process.exit(70)
    },
    onConnectionError: (error) => log.warn({ error }, 'a database connection was lost'),
  })
  const kernel: Kernel = {
    config,
    db: storage.db,
    prepared: storage.prepared,
    gathered: storage.gathered,
    clock: systemClock,
    log,
    rateLimits: config.rateLimits
      ? createRateLimits({
          clock: systemClock,
          shared: config.databaseUrl && storage.prepared,
          numbers: config.rateLimitNumbers,
        })
      : noRateLimits,
    keyring: createKeyring(config.secretKeys ?? [await generatedSecret(config.dataDirectory, 'secret-key')]),
    adminToken: config.adminToken ?? (await generatedSecret(config.dataDirectory, 'admin-token')),
  }
  const hosts = await mountHosts(kernel, storage, pages)
  const listeners = await listen(hosts, config)
  const jobs = startJobs(kernel)
  return {
    storage: config.databaseUrl ? 'PostgreSQL' : 'embedded',
    async stop(withinMilliseconds) {
      await listeners.drain(withinMilliseconds)
      await jobs.stop()
      await storage.close()
      await flush()
    },
  }
}
