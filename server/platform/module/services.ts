import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, PreparedQuery, Storage } from '#platform/database/database.ts'
import type { LargeReads } from '#platform/database/replica/replica.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Logger } from '#platform/observability/log.ts'
import type { Mailer } from '#platform/outbound/mail.ts'
import type { DnsResolver } from '#platform/outbound/dns-resolver.ts'
import type { OutboundClient } from '#platform/outbound/fetch.ts'
import type { RateLimits } from '#platform/rate-limits/rate-limit.ts'
import type { CurrentSettings } from '#platform/settings/current-settings.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { Telemetry } from '#platform/observability/telemetry.ts'

/** Dependencies of every module. It grows slowly and never contains the name of a module. */
export type ServerContext = {
  config: Config
  db: Database
  prepared: PreparedQuery
  batched: Storage['batched']
  alone: Storage['withDedicatedConnection']
  largeReads: Pick<LargeReads, 'begin' | 'readAlone'>
  clock: Clock
  log: Logger
  telemetry: Telemetry
  rateLimits: RateLimits
  keyring: Keyring
  mail: Mailer
  settings: CurrentSettings
  outbound: OutboundClient
  dns: DnsResolver
  /** Undefined if `ADMIN_TOKEN` is off. */
  adminToken: Secret | undefined
}
