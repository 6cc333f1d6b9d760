import { limits } from '@countersign/protocol/formats/limits'
import { type ClientId, type IdentityId, type UserId, asId } from '@countersign/protocol/ids'
import { listIdentitiesOfSession, lockUser, requireOwnIdentity } from '#accounts/identities/identity.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { deletePictures, removePicture } from '#platform/pictures/picture.ts'
import { defineErrors } from '#platform/api-error.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import { changedAccess, replaceGroups } from './access/access.ts'
import type { ListedApp, RegisteredApp } from './directory.ts'
import {
  type AppSettings,
  type AppSettingsChange,
  type NewAppSettings,
  defaultSettings,
  laggingAppSettings,
  redirectUriOrigins,
  requireForeignIcon,
  validateAppSettings,
} from './settings.ts'
import { mustHoldEverywhere } from './settings-change.ts'
import { versionOf } from './view/app-view.ts'
import type { Lifecycle } from '#platform/module/lifecycle.ts'
import {
  type AppManager,
  type ManagedAppRef,
  auditActor,
  canManageApp,
  nextOperatorDisabled,
  ownerUserIdOf,
  requireRecentAuthenticationOf,
  managerTransaction,
} from './management.ts'
import { clientFor } from './operator-app.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Invalid app settings.'],
  app_not_found: [404, 'App not found.'],
  version_mismatch: [412, 'The settings of the app were changed meanwhile. Read them again.'],
  app_exists: [409, 'Another request registered this app meanwhile.'],
  owns_apps: [409, 'The account owns registered apps. Delete them first.'],
  too_many_apps: [409, `A user can have at most ${limits.appsPerUserMax} apps. Delete one first.`],
  client_metadata_immutable: [
    409,
    'name and redirectUris come from the client metadata document and cannot be changed here.',
  ],
})

/** How an app is registered: its manager, the identity shown as its owner, and whether it is public. */
type Registering = {
  manager: AppManager
  isPublic: boolean
  identityId?: IdentityId | undefined
  /** Where it is declared: its client ID, and the SHA-256 of its secret. Otherwise both are random. */
  declared?: { clientId: ClientId; secretSha256: Uint8Array | undefined } | undefined
}

/**
 * Registers an app. A confidential app gets a secret, which is returned only here and stored as its SHA-256. A public
 * app has none. Throws `invalid_redirect_uri`, `invalid_request`, `identity_not_found` or
 * `too_many_apps`.
 */
export async function createApp(
  { db, outbound, config }: Pick<ServerContext, 'db' | 'outbound' | 'config'>,
  { manager, isPublic, identityId, declared }: Registering,
  settings: NewAppSettings,
  now: Date,
) {
  const ownerUserId = ownerUserIdOf(manager)
  const client = clientFor(outbound, { ownerUserId, metadataFetchedAt: null })
  validateAppSettings({ ...settings, isPublic }, { outbound: client, config })
  requireForeignIcon(settings, config)
  const clientId = declared?.clientId ?? asId<ClientId>(`app_${randomBytes(16).toString('hex')}`)
  const clientSecret = isPublic ? undefined : generateToken('clientSecret')
  const secretsSha256 = clientSecret === undefined ? [] : [declared?.secretSha256 ?? sha256(clientSecret)]
  const secretsEndAt = secretsSha256.map(() => null)
  const ownerIdentityId = await findOwnerIdentity(db, manager, identityId, now)
  const kept = {
    clientId,
    ownerUserId,
    ownerIdentityId,
    isPublic,
    disabledByOperator: false,
    secretsSha256,
    secretsEndAt,
    metadataFetchedAt: null,
  }
  const { access: givenAccess = {}, ...given } = settings
  requireOwnSettings(manager, settings)

  return managerTransaction(db, manager, async (tx) => {
    if (ownerUserId !== null) await requireRoom(tx, ownerUserId)
    const access = await changedAccess(tx, defaultSettings.access, givenAccess)
    const app = { ...defaultSettings, ...given, ...kept, access, createdAt: now, updatedAt: now }
    const isNew = await store.insertApp(tx, app)
    if (!isNew && declared) throw errors.app_exists()
    if (!isNew) throw new Error(`client id ${clientId} was generated twice`)
    await store.insertSecrets(tx, app)
    await store.replaceOrigins(tx, clientId, redirectUriOrigins(app.redirectUris))
    await replaceGroups(tx, clientId, access)
    await recordAuditEvent(tx, { action: 'app.created', ...auditActor(manager), clientId }, now)
    return { app, clientSecret }
  })
}

/** Settings that only the operator changes: who may use an app, and what it learns about its users' groups. */
const ofOperator = ['access', 'groupsClaim'] as const

/** Throws `invalid_request` if a user sends a setting that only the operator changes. */
function requireOwnSettings({ actor }: AppManager, change: AppSettingsChange): void {
  const foreign = actor === 'user' ? ofOperator.find((name) => change[name] !== undefined) : undefined
  if (foreign !== undefined) throw errors.invalid_request({ sentence: `Only the operator changes ${foreign}.` })
}

/** Returns the identity as which a user registers an app: the one they chose, otherwise their first one. */
async function findOwnerIdentity(
  db: Database,
  manager: AppManager,
  chosen: IdentityId | undefined,
  now: Date,
): Promise<IdentityId | null> {
  if (manager.actor === 'operator') return null
  const { session } = manager
  if (chosen !== undefined) return (await requireOwnIdentity(db, session, chosen, now)).identityId
  const [first] = await listIdentitiesOfSession(db, session, now)
  return first?.identityId ?? null
}

/** Locks a user's list of apps until the transaction ends. Throws `too_many_apps` or `unauthorized`. */
async function requireRoom(tx: Transaction, userId: UserId): Promise<void> {
  await lockUser(tx, userId)
  if ((await store.countAppsOf(tx, userId)) >= limits.appsPerUserMax) throw errors.too_many_apps()
}

/** Lists the apps that a user has registered, newest first. */
export function listAppsOf(db: Database, userId: UserId): Promise<ListedApp[]> {
  return store.listAppsOf(db, userId)
}

type Page = { cursor?: string | undefined; count: number }

/** Lists a page of all apps, newest first. */
export async function readApps(
  db: Database,
  { cursor, count }: Page,
): Promise<{ apps: ListedApp[]; nextCursor: string | null }> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await store.listApps(db, { before, count: count + 1 })
  const apps = found.slice(0, count)
  const last = apps.at(-1)
  return { apps, nextCursor: found.length > count && last ? `${last.createdAt.getTime()}-${last.clientId}` : null }
}

/** Parses a cursor, which names the last app of the previous page. That app may have been deleted since. */
function readCursor(cursor: string): store.Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), clientId: asId<ClientId>(cursor.slice(end + 1)) }
}

/** Returns the current app, without a cache. Throws `app_not_found`. */
export async function getApp(db: Database, { manager, clientId }: ManagedAppRef): Promise<RegisteredApp> {
  return requireManagedApp(manager, await store.findApp(db, clientId))
}

/** Throws `app_not_found` if a look-up found no app. */
export function requireApp(found: RegisteredApp | undefined): RegisteredApp {
  if (!found) throw errors.app_not_found()
  return found
}

/** Throws `app_not_found` for an unknown app and for an app of another owner. */
function requireManagedApp(manager: AppManager, found: RegisteredApp | undefined): RegisteredApp {
  return requireApp(found && canManageApp(manager, found) ? found : undefined)
}

/** Locks an app until the transaction ends. Throws `app_not_found`, also for an app of another owner. */
export async function lockManagedApp(
  tx: Transaction,
  { manager, clientId }: Pick<ManagedAppRef, 'manager' | 'clientId'>,
): Promise<RegisteredApp> {
  return requireManagedApp(manager, await store.lockApp(tx, clientId))
}

/** Settings that a client metadata document determines. */
const described: (keyof AppSettings)[] = ['name', 'redirectUris']

/**
 * Settings that need recent authentication. A redirect URI receives authorization codes, and a logout URI receives user
 * identifiers.
 */
const takingPresence: (keyof AppSettings)[] = [
  'redirectUris',
  'allowAnyLoopbackPort',
  'appKeyRecipientJwk',
  'backchannelLogoutUri',
]

/** Checks whether any of these settings is sent, even as `false`, `null` or empty. */
function isAnyGiven(change: AppSettingsChange, names: (keyof AppSettings)[]): boolean {
  return names.some((name) => change[name] !== undefined)
}

/**
 * Changes the given settings of an app and keeps the others. Also returns whether all processes must apply the change
 * before the response. Throws `app_not_found`, `invalid_redirect_uri`, `invalid_request`, `reauthentication_required`,
 * `client_metadata_immutable`, `disabled_by_operator`, or `version_mismatch` if the settings have another version than
 * the given one.
 */
export function updateApp(
  { db, outbound, config }: Pick<ServerContext, 'db' | 'outbound' | 'config'>,
  { manager, clientId, version }: ManagedAppRef & { version?: string | undefined },
  change: AppSettingsChange,
  now: Date,
): Promise<{ app: RegisteredApp; isForAll: boolean }> {
  requireOwnSettings(manager, change)
  return managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    if (version !== undefined && versionOf(app) !== version) throw errors.version_mismatch()
    validateAppSettings({ ...change, isPublic: app.isPublic }, { outbound: clientFor(outbound, app), config })
    if (app.metadataFetchedAt && isAnyGiven(change, described)) throw errors.client_metadata_immutable()
    if (isAnyGiven(change, takingPresence)) requireRecentAuthenticationOf(manager, now)

    if (change.iconUrl !== undefined && change.iconUrl !== app.iconUrl) {
      requireForeignIcon(change, config)
      await removePicture(tx, clientId)
    }
    const { access: changedPart, ...given } = change
    const access = changedPart ? await changedAccess(tx, app.access, changedPart) : app.access
    const changed = {
      ...app,
      ...given,
      access,
      disabledByOperator: nextOperatorDisabled(manager, app, change),
      updatedAt: now,
    }
    await store.updateApp(tx, changed)
    if (changedPart?.groups) await replaceGroups(tx, clientId, access)
    await store.replaceOrigins(tx, clientId, redirectUriOrigins(changed.redirectUris))
    const details = { changed: Object.keys(change) }
    await recordAuditEvent(tx, { action: 'app.updated', ...auditActor(manager), clientId, details }, now)
    return { app: changed, isForAll: mustHoldEverywhere(laggingAppSettings, changed, app) }
  })
}

/**
 * Deletes an app with its secrets. Its codes and tokens are invalid at once, because every use of one looks up its app
 * first. A metadata document client is disabled instead: the next consent would restore it together with its tokens.
 * Throws `app_not_found`, `reauthentication_required` or `client_metadata_immutable`.
 */
export async function deleteApp(
  { db, lifecycle }: { db: Database; lifecycle: Lifecycle },
  { manager, clientId }: ManagedAppRef,
  now: Date,
): Promise<void> {
  await managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    requireRecentAuthenticationOf(manager, now)
    if (app.metadataFetchedAt)
      throw errors.client_metadata_immutable({
        sentence: 'Clients registered by a metadata document cannot be deleted. Disable the app instead.',
      })
    if (manager.actor === 'user') await lifecycle.end(tx, 'ownedApps', { clientIds: [clientId] }, now)
    await deletePictures(tx, [clientId])
    await store.deleteApp(tx, clientId, now)
    await recordAuditEvent(tx, { action: 'app.deleted', ...auditActor(manager), clientId }, now)
  })
}

/**
 * Deletes the apps of a user who is being deleted, with the user locked by the caller. Returns the deleted apps. Throws
 * `owns_apps`, which names them, unless `withApps` is set, because other users sign in to them.
 */
export async function deleteAppsOfUser(
  tx: Transaction,
  { userId, withApps }: { userId: UserId; withApps: boolean },
  now: Date,
  lifecycle: Lifecycle,
): Promise<Pick<RegisteredApp, 'clientId'>[]> {
  const owned = await store.lockAppsOf(tx, userId)
  if (owned.length > 0) await lifecycle.end(tx, 'ownedApps', { clientIds: owned }, now)
  await deletePictures(tx, owned)
  const gone = await store.deleteAppsOfUser(tx, userId, now)
  if (gone.length > 0 && !withApps) throw errors.owns_apps({ fields: { apps: gone.map(({ name }) => name) } })
  for (const { clientId } of gone)
    await recordAuditEvent(tx, { action: 'app.deleted', actor: 'user', userId, clientId }, now)
  return gone
}

/** Leaves the apps of a user without an identity to show as their owner, where it is deleted. Returns these apps. */
export function forgetOwnerIdentities(
  tx: Transaction,
  { userId, identityIds }: { userId: UserId; identityIds: IdentityId[] },
): Promise<Pick<RegisteredApp, 'clientId'>[]> {
  return store.removeOwnerIdentities(tx, userId, identityIds)
}
