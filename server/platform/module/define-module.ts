import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { AnyEndpoint } from '@countersign/protocol/endpoint'
import type {
  RegistrationFinish,
  RegistrationFinished,
  RegistrationStart,
  RegistrationStarted,
} from '@countersign/protocol/accounts/passkeys'
import type { WebhookEventType } from '@countersign/protocol/clients/webhook-events'
import type { IdentityId, SessionId, UserId } from '@countersign/protocol/ids'
import type { ProviderMetadata } from '@countersign/protocol/oauth/provider-metadata'
import type { StaticView } from '@countersign/protocol/pages'
import type { Config } from '#platform/config/config.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Placement } from '#platform/database/distributed/sharding.ts'
import type { Tables } from '#platform/database/tables.ts'
import type { Hosts } from '#platform/http/host.ts'
import type { RateLimitPolicy } from '#platform/rate-limits/rate-limit.ts'
import type { EndParts } from './lifecycle.ts'
import type { ServerContext } from './services.ts'

/** Deletes up to `batch` rows that have ended by `now`. Returns their number. */
export type CleanupTask = (db: Database, now: Date, batch: number) => Promise<number>

/** Periodic task. It runs once per cluster. */
export type MaintenanceTask = (kernel: ServerContext, now: Date) => Promise<void>

/** Work that runs as long as the process does. */
export type Background = { stop: () => Promise<void> }

/**
 * What a backup does with a table. Rows that are used once or live briefly are excluded: sessions, codes, access and
 * refresh tokens, ceremonies, invitations. A backup cannot know what was used or revoked after it was created, and must
 * not make it valid again.
 *
 * Long-lived credentials are included, because their owners would lose access without them: passkeys, recovery codes,
 * app secrets, SCIM tokens. One that was revoked after the backup is valid again: `docs/operations/backup.md` says what
 * the operator does.
 */
export type BackupPolicy = 'include' | 'exclude'

/** Field of the account export that has what a table holds about a user, or why the export has none of it. */
export type ExportPolicy =
  | Exclude<keyof AccountExport, 'exportedAt'>
  | `identities.${keyof AccountExport['identities'][number]}`
  | { because: string }

/**
 * What happens to a table in a backup, in a distributed database and in the export of an account. `Column` is the name
 * of one of its columns. `export` is required of a table with the ID of a user or of an identity.
 */
export type TablePolicy<Column extends string = string> = {
  backup: BackupPolicy
  placement: Placement<Column>
  export?: ExportPolicy
}

/** User whose account is exported, and their session. */
export type ExportSubject = { authMethod: 'passkey'; userId: UserId; sessionId: SessionId }

/** Value of a field of the export. A list of any size is read in pages. */
type Exported<Value> = Promise<Value> | (Value extends (infer Item)[] ? AsyncIterable<Item[]> : never)
type ExportedIdentity = AccountExport['identities'][number]

/** Fields that a module adds to the export of an account and to each of its identities. */
export type ExportParts = {
  account?: {
    [Field in keyof AccountExport]?: (db: Database, owner: ExportSubject, now: Date) => Exported<AccountExport[Field]>
  }
  identity?: {
    [Field in keyof ExportedIdentity]?: (
      db: Database,
      identityId: IdentityId,
      now: Date,
    ) => Exported<ExportedIdentity[Field]>
  }
}

/** Part of a module in a registration. */
export type RegistrationPart = {
  /** Returns the identity that the registration is for, if an operator has added it before. */
  invited?: (kernel: ServerContext, start: RegistrationStart) => Promise<IdentityId | undefined>
  /** Returns fields that the browser needs before it creates keys. Throws what would refuse the registration later. */
  started: (kernel: ServerContext, start: RegistrationStart) => Promise<Partial<RegistrationStarted>>
  /**
   * Reads the part of a request before anything is consumed, and returns the function that stores it with the new
   * identity. That function returns fields of the response.
   */
  finished: (kernel: ServerContext, finish: RegistrationFinish) => StoreRegistrationPart | undefined
}
/** A new identity, and whether it is an invited one: then only its invitation finishes the registration. */
export type RegisteredIdentity = { identityId: IdentityId; isInvited: boolean }
export type StoreRegistrationPart = (
  tx: Transaction,
  registered: RegisteredIdentity,
  now: Date,
) => Promise<Partial<RegistrationFinished>>

/** Describes what a module supports to OAuth clients. Nothing that is not supported is described. */
export type MetadataPart = (config: Config) => Partial<ProviderMetadata>

/** Contribution of one room to the server. `Services` are the services that its routes and background work use. */
export type Module<Services> = {
  /** Folder of the room, such as `oauth/delegation`. */
  name: string
  /** Endpoints of the interface that `mount` registers. */
  endpoints?: readonly AnyEndpoint[]
  /** Paths of pages without data of their own. */
  pages?: (config: Config) => { [Host in 'auth' | 'business']?: Record<string, StaticView['page']> }
  /** Endpoints whose requests members of an organization may have to sign, with what they do. */
  acts?: readonly { endpoint: AnyEndpoint }[]
  /** Creates what the room needs before the first request. */
  initialize?: (kernel: ServerContext) => Promise<void>
  /** Registers the routes. */
  mount?: (hosts: Hosts, services: Services) => void
  /** Actions that the room records in the audit log, in the past tense. Their names never change. */
  auditActions?: readonly string[]
  rateLimits?: Record<string, RateLimitPolicy>
  /** Events that the room sends to apps. */
  webhookEvents?: readonly WebhookEventType[]
  /** Tables that only this room writes. */
  tables?: { [Table in keyof Tables]?: TablePolicy<keyof Tables[Table] & string> }
  cleanupTasks?: Record<string, CleanupTask>
  maintenanceTasks?: Record<string, MaintenanceTask>
  background?: (services: Services) => Background
  /** Effects of ending a user's data. */
  ended?: EndParts<Services>
  exported?: ExportParts
  registered?: RegistrationPart
  metadata?: MetadataPart
}

/** Keeps the literal types of a module, so that `modules.ts` can check that nothing is missing. */
export const defineModule =
  <Services = { kernel: ServerContext }>() =>
  <const M extends Module<Services>>(module: M & { [Surplus in Exclude<keyof M, keyof Module<Services>>]: never }): M =>
    module
