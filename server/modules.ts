import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { Identity } from '@countersign/protocol/accounts/identities'
import type { Api, RequestOf } from '@countersign/protocol/api'
import type { ProviderMetadata } from '@countersign/protocol/oauth/provider-metadata'
import type { WebhookEventType } from '@countersign/protocol/clients/webhook-events'
import { account } from '#accounts/account/module.ts'
import { appEvents } from '#accounts/app-events/module.ts'
import { deletion } from '#accounts/deletion/module.ts'
import { groups } from '#accounts/groups/module.ts'
import { identities } from '#accounts/identities/module.ts'
import { invitations } from '#accounts/invitations/module.ts'
import { keys } from '#accounts/keys/module.ts'
import { operators } from '#accounts/operators/module.ts'
import { passkeys } from '#accounts/passkeys/module.ts'
import { registrationEmail } from '#accounts/registration-email/module.ts'
import { scim } from '#accounts/scim/module.ts'
import { suspension } from '#accounts/suspension/module.ts'
import { recoveryLinks } from '#accounts/recovery-links/module.ts'
import { backchannelLogout } from '#accounts/backchannel-logout/module.ts'
import { sessions } from '#accounts/sessions/module.ts'
import { claims } from '#clients/claims/module.ts'
import { registration } from '#clients/registration/module.ts'
import { usage } from '#clients/usage/module.ts'
import { resources } from '#clients/resources/module.ts'
import { roles } from '#clients/roles/module.ts'
import { webhooks } from '#clients/webhooks/module.ts'
import { appKeys } from '#oauth/app-keys/module.ts'
import { authorization } from '#oauth/authorize/module.ts'
import { consents } from '#oauth/consents/module.ts'
import { delegation } from '#oauth/delegation/module.ts'
import { discovery } from '#oauth/discovery/module.ts'
import { fedcm } from '#oauth/fedcm/module.ts'
import { logout } from '#oauth/logout/module.ts'
import { token } from '#oauth/token/module.ts'
import { auditLog } from '#operations/audit/module.ts'
import { backup } from '#operations/backup/module.ts'
import { health } from '#operations/health/module.ts'
import { people } from '#operations/people/module.ts'
import { configuration } from '#operations/configuration/module.ts'
import { sinks } from '#operations/sinks/module.ts'
import { operatorSettings } from '#operations/settings/module.ts'
import { playground } from '#operations/playground/module.ts'
import { acts } from '#organizations/acts/module.ts'
import { council } from '#organizations/council/module.ts'
import { domains } from '#organizations/domains/module.ts'
import { organizationKeys } from '#organizations/keys/module.ts'
import { members } from '#organizations/members/module.ts'
import { membership } from '#organizations/membership/module.ts'
import type { AuditAction } from '#platform/audit/audit-log.ts'
import type { Placements } from '#platform/database/distributed/sharding.ts'
import type { Tables } from '#platform/database/tables.ts'
import { pictures } from '#platform/pictures/module.ts'
import { platform } from '#platform/process/module.ts'
import type { TablePolicy } from '#platform/module/define-module.ts'
import type { EndOrder } from '#platform/module/lifecycle.ts'
import type { RateLimitName, RateLimitPolicies } from '#platform/rate-limits/rate-limit.ts'
import { keyReset } from '#signing/key-reset/module.ts'
import { personalKeys } from '#signing/keys/module.ts'
import { signingRequests } from '#signing/requests/module.ts'
import { transparency } from '#signing/transparency/module.ts'
import { connections } from '#sso/connections/module.ts'
import { provisioning } from '#sso/provisioning/module.ts'
import { ssoSignIn } from '#sso/sign-in/module.ts'
import { tokenFamilies } from '#tokens/families/module.ts'
import { signingKeys } from '#tokens/signing-keys/module.ts'

/** Modules of all rooms, in their order. This is the only file that names all of them. */
export const modules = [
  ...[pictures, platform],
  ...[appEvents, backchannelLogout, sessions, identities, keys, passkeys, account, operators, groups],
  ...[registrationEmail, invitations],
  ...[suspension, deletion, scim, recoveryLinks],
  ...[usage, registration, roles, claims, resources, webhooks],
  ...[signingKeys, tokenFamilies],
  ...[membership, acts, domains, organizationKeys, members, council],
  ...[connections, provisioning, ssoSignIn],
  ...[delegation, appKeys, consents, authorization, token, discovery, logout, fedcm],
  ...[transparency, personalKeys, signingRequests, keyReset],
  ...[auditLog, sinks, operatorSettings, configuration, people, playground, backup, health],
] as const

type AnyModule = (typeof modules)[number]
type Part<Name extends string> = AnyModule extends infer M
  ? M extends Record<Name, infer Value>
    ? Value
    : never
  : never
type KeysOf<Value> = Value extends Value ? keyof Value : never

/** Default policies of all rate limits. The modules declare their names by `DeclaredRateLimits`. */
export const rateLimitPolicies = Object.fromEntries(
  modules.flatMap((module) => Object.entries('rateLimits' in module ? module.rateLimits : {})),
) as RateLimitPolicies

const tablePolicies = modules.flatMap((module): [string, TablePolicy][] =>
  Object.entries('tables' in module ? module.tables : {}),
)

/** Tables that a backup contains. */
export const backedUpTables = tablePolicies.filter(([, policy]) => policy.backup === 'include').map(([table]) => table)

/** Where a distributed database has the rows of each table. */
export const placements: Placements = new Map(tablePolicies.map(([table, { placement }]) => [table, placement]))

/**
 * Order in which the rooms delete their parts. It is the order in which they lock rows, and the same for every request,
 * so that no two requests wait for each other.
 */
export const endOrder = {
  ownedApps: ['clients/resources'],
  apps: ['clients/registration'],
  identities: [
    'clients/registration',
    'clients/roles',
    'accounts/operators',
    'organizations/members',
    'organizations/acts',
    'accounts/backchannel-logout',
    'tokens/families',
    'sso/sign-in',
    'oauth/app-keys',
    'oauth/consents',
    'signing/requests',
    'clients/webhooks',
    'signing/keys',
    'accounts/keys',
    'accounts/groups',
    'accounts/invitations',
    'accounts/scim',
    'accounts/recovery-links',
  ],
  invited: ['accounts/scim'],
  account: ['accounts/keys', 'accounts/passkeys'],
  access: [
    'accounts/operators',
    'accounts/scim',
    'organizations/members',
    'organizations/acts',
    'accounts/backchannel-logout',
    'tokens/families',
    'oauth/delegation',
    'signing/requests',
    'accounts/keys',
    'accounts/passkeys',
  ],
  recovered: [
    'accounts/operators',
    'accounts/scim',
    'oauth/consents',
    'accounts/backchannel-logout',
    'tokens/families',
    'accounts/keys',
    'accounts/passkeys',
  ],
  keys: ['organizations/members', 'oauth/app-keys', 'signing/requests'],
  sessions: ['tokens/families', 'accounts/sessions', 'oauth/fedcm'],
} as const satisfies EndOrder

/** `true`, or the names of what no module has, which the compiler then reports. */
type Complete<Missing> = [Missing] extends [never] ? true : { missing: Missing }
type EndpointName = Part<'endpoints'>[number] extends infer E ? (E extends { name: infer Name } ? Name : never) : never
type SignableName = {
  [Name in keyof Api]: RequestOf<Name> extends { body: infer Body }
    ? 'signedAction' extends keyof NonNullable<Body>
      ? Name
      : never
    : never
}[keyof Api]
type PerformedName = Part<'acts'>[number]['endpoint']['name']
type WithPart<What> = AnyModule extends infer M
  ? M extends { name: infer Name; ended: infer Ended }
    ? What extends keyof Ended
      ? Name
      : never
    : never
  : never
type Unordered = { [What in keyof EndOrder]: Exclude<WithPart<What>, (typeof endOrder)[What][number]> }[keyof EndOrder]
type ExportedBy<Of extends string> =
  Part<'exported'> extends infer E ? (E extends Record<Of, infer Fields> ? keyof Fields : never) : never
/** Fields of the export that the room of accounts itself adds. */
type OwnFields = 'exportedAt' | 'user' | 'identities'
type ExportedIdentity = AccountExport['identities'][number]
type TableOfUsers = {
  [Table in keyof Tables]: Extract<keyof Tables[Table], 'user_id' | 'identity_id'> extends never ? never : Table
}[keyof Tables]
type TableWithExport<Of = Part<'tables'>> = Of extends Of
  ? { [Table in keyof Of]: Of[Table] extends { export: unknown } ? Table : never }[keyof Of]
  : never

/** The compiler reports here what no module has. */
export const isComplete: [
  Complete<Exclude<keyof Api, EndpointName>>,
  Complete<Exclude<SignableName, PerformedName>>,
  Complete<Exclude<AuditAction, Part<'auditActions'>[number]>>,
  Complete<Exclude<RateLimitName, KeysOf<Part<'rateLimits'>>>>,
  Complete<Exclude<WebhookEventType, Part<'webhookEvents'>[number]>>,
  Complete<Exclude<keyof Tables, KeysOf<Part<'tables'>>>>,
  Complete<Exclude<TableOfUsers, TableWithExport>>,
  Complete<Unordered>,
  Complete<Exclude<keyof ProviderMetadata, KeysOf<ReturnType<Part<'metadata'>>>>>,
  Complete<Exclude<keyof AccountExport, ExportedBy<'account'> | OwnFields>>,
  Complete<Exclude<keyof ExportedIdentity, ExportedBy<'identity'> | keyof Identity>>,
] = [true, true, true, true, true, true, true, true, true, true, true]
