import type { Clock } from '#platform/clock.ts'
import type { Config } from '#platform/config/config.ts'
import type { Database, Prepared, Storage } from '#platform/database/database.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import type { Logger } from '#platform/observability/log.ts'
import type { Mailer } from '#platform/outbound/mail.ts'
import type { NameServers } from '#platform/outbound/name-servers.ts'
import type { Outbound } from '#platform/outbound/fetch.ts'
import type { RateLimits } from '#platform/rate-limits/rate-limit.ts'
import type { Secret } from '#platform/crypto/secret.ts'
import type { Telemetry } from '#platform/observability/telemetry.ts'

/** What every capability stands on. Grows slowly, and never learns a capability's name. */
export type Kernel = {
  config: Config
  db: Database
  prepared: Prepared
  gathered: Storage['gathered']
  alone: Storage['alone']
  clock: Clock
  log: Logger
  telemetry: Telemetry
  rateLimits: RateLimits
  keyring: Keyring
  mail: Mailer
  outbound: Outbound
  nameServers: NameServers
  adminToken: Secret
}
