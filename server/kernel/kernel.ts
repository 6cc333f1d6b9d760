import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Database, Prepared, Storage } from './database.ts'
import type { Keyring } from './keyring.ts'
import type { Logger } from './log.ts'
import type { Mailer } from './mail.ts'
import type { NameServers } from './name-servers.ts'
import type { Outbound } from './outbound.ts'
import type { RateLimits } from './rate-limit.ts'
import type { Secret } from './secret.ts'
import type { Telemetry } from './telemetry.ts'

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
