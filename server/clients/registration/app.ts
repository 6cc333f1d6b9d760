import type { App, PublicApp } from '@countersign/protocol/clients/apps'
import { limits } from '@countersign/protocol/formats/limits'
import { isRequirableClaim } from '@countersign/protocol/formats/required-claims'
import { holdPerson } from '#accounts/identities/identity.ts'
import { record } from '#platform/audit/audit.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import type { Kernel } from '#platform/module/services.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import { newToken } from '#platform/crypto/token-format.ts'
import type { RegisteredApp } from './app-directory.ts'
import {
  defaultSettings,
  laggingAppSettings,
  requireAcceptable,
  type AppSettings,
  type NewAppSettings,
} from './app-settings.ts'
import { originsOf } from './redirect-uri.ts'
import { mustHoldEverywhere } from './settings-change.ts'
import * as resourcesStore from '#clients/resources/store.ts'
import {
  byline,
  isHeldAfter,
  looksAfter,
  ownerOf,
  requirePresence,
  stewardTransaction,
  type Sought,
  type Steward,
} from './steward.ts'
import * as store from './store.ts'

const refuse = refusals({
  app_not_found: [404, 'There is no such app.'],
  too_many_apps: [409, `A person has at most ${limits.appsPerUserMax} apps of their own.`],
  described_by_itself: [409, 'This app says in its own document what it is called and where its people return.'],
})

/**
 * Registers an app. A confidential one gets a secret, which is told this once and kept as its SHA-256; a public one has
 * none. Refuses `invalid_redirect_uri`, `invalid_request`, `too_many_apps`.
 */
export async function createApp(
  { db, outbound, config }: Pick<Kernel, 'db' | 'outbound' | 'config'>,
  { steward, isPublic }: { steward: Steward; isPublic: boolean },
  settings: NewAppSettings,
  now: Date,
) {
  requireAcceptable({ ...settings, isPublic }, { outbound, config })
  const clientId = `app_${randomBytes(16).toString('hex')}`
  const clientSecret = isPublic ? undefined : newToken('clientSecret')
  const secretsSha256 = clientSecret === undefined ? [] : [sha256(clientSecret)]
  const secretsEndAt = secretsSha256.map(() => null)
  const ownerUserId = ownerOf(steward)
  const kept = { clientId, ownerUserId, isPublic, isHeld: false, secretsSha256, secretsEndAt, documentReadAt: null }
  const app = { ...defaultSettings, ...settings, ...kept, createdAt: now, updatedAt: now }

  await stewardTransaction(db, steward, async (tx) => {
    if (ownerUserId !== null) await requireRoom(tx, ownerUserId)
    const isNew = await store.insertApp(tx, app)
    if (!isNew) throw new Error(`The client id ${clientId} was drawn twice.`)
    await store.insertSecrets(tx, app)
    await store.replaceOrigins(tx, clientId, originsOf(app.redirectUris))
    await record(tx, { action: 'app.created', ...byline(steward), clientId }, now)
  })
  return { app, clientSecret }
}

/** Lets nobody else add to the apps of a person until the transaction ends. Refuses `too_many_apps`, `unauthorized`. */
async function requireRoom(tx: Transaction, userId: string): Promise<void> {
  await holdPerson(tx, userId)
  if ((await store.countAppsOf(tx, userId)) >= limits.appsPerUserMax) throw refuse.too_many_apps()
}

/** The apps that a person has registered, the newest first. */
export function listAppsOf(db: Database, userId: string): Promise<RegisteredApp[]> {
  return store.listAppsOf(db, userId)
}

type Page = { cursor?: string | undefined; count: number }

/** A page of all apps, the newest first. */
export async function readApps(
  db: Database,
  { cursor, count }: Page,
): Promise<{ apps: RegisteredApp[]; nextCursor: string | null }> {
  const before = cursor === undefined ? undefined : readCursor(cursor)
  const found = await store.listApps(db, { before, count: count + 1 })
  const apps = found.slice(0, count)
  const last = apps.at(-1)
  return { apps, nextCursor: found.length > count && last ? `${last.createdAt.getTime()}-${last.clientId}` : null }
}

/** A cursor names the last app of the page before, which may be gone by now. */
function readCursor(cursor: string): store.Position {
  const end = cursor.indexOf('-')
  return { createdAt: new Date(Number(cursor.slice(0, end))), clientId: cursor.slice(end + 1) }
}

/** The app as it is now, whatever a cache remembers. Refuses `app_not_found`. */
export async function readApp(db: Database, { steward, clientId }: Sought): Promise<RegisteredApp> {
  return requireAppOf(steward, await store.findApp(db, clientId))
}

/** Refuses `app_not_found` where a look-up has found none. */
export function requireApp(found: RegisteredApp | undefined): RegisteredApp {
  if (!found) throw refuse.app_not_found()
  return found
}

/** The same; an app that is another's is as unknown as none. */
export function requireAppOf(steward: Steward, found: RegisteredApp | undefined): RegisteredApp {
  return requireApp(found && looksAfter(steward, found) ? found : undefined)
}

/** What a document says of an app that describes itself. */
const described: (keyof AppSettings)[] = ['name', 'redirectUris']

/** Where people are sent back to decides who gets their codes, and a logout URI who gets their identifiers. */
const takingPresence: (keyof AppSettings)[] = ['redirectUris', 'allowAnyLoopbackPort', 'backchannelLogoutUri']

/** Whether any of these is given, be it with `false`, `null` or nothing in it. */
function isAnyGiven(change: Partial<AppSettings>, names: (keyof AppSettings)[]): boolean {
  return names.some((name) => change[name] !== undefined)
}

/**
 * Changes what is given and leaves the rest; answers also whether that is to hold in every process before it is
 * acknowledged. Refuses `app_not_found`, `invalid_redirect_uri`, `invalid_request`,
 * `reauthentication_required`, `described_by_itself`, `disabled_by_operator`.
 */
export function changeApp(
  { db, outbound, config }: Pick<Kernel, 'db' | 'outbound' | 'config'>,
  { steward, clientId }: Sought,
  change: Partial<AppSettings>,
  now: Date,
): Promise<{ app: RegisteredApp; isForAll: boolean }> {
  return stewardTransaction(db, steward, async (tx) => {
    const app = requireAppOf(steward, await store.lockApp(tx, clientId))
    requireAcceptable({ ...change, isPublic: app.isPublic }, { outbound, config })
    if (app.documentReadAt && isAnyGiven(change, described)) throw refuse.described_by_itself()
    if (isAnyGiven(change, takingPresence)) requirePresence(steward, now)

    const changed = { ...app, ...change, isHeld: isHeldAfter(steward, app, change), updatedAt: now }
    await store.updateApp(tx, changed)
    await store.replaceOrigins(tx, clientId, originsOf(changed.redirectUris))
    const details = { changed: Object.keys(change) }
    await record(tx, { action: 'app.changed', ...byline(steward), clientId, details }, now)
    return { app: changed, isForAll: mustHoldEverywhere(laggingAppSettings, changed, app) }
  })
}

/**
 * Deletes an app with its secrets. Its codes and tokens need no sweep to die: whatever redeems or accepts one looks its
 * app up first. An app that describes itself would be back with the next consent, and they with it: it is disabled
 * instead. Refuses `app_not_found`, `reauthentication_required`, `described_by_itself`.
 */
export async function deleteApp(db: Database, { steward, clientId }: Sought, now: Date): Promise<void> {
  await stewardTransaction(db, steward, async (tx) => {
    const app = requireAppOf(steward, await store.lockApp(tx, clientId))
    requirePresence(steward, now)
    if (app.documentReadAt)
      throw refuse.described_by_itself({ sentence: 'An app that describes itself is disabled, not deleted.' })
    if (steward.actor === 'person') await resourcesStore.holdResources(tx, [clientId])
    await store.removeApp(tx, clientId)
    await record(tx, { action: 'app.deleted', ...byline(steward), clientId }, now)
  })
}

/** Deletes the apps of a person who leaves, whom the caller holds; answers which those were. */
export async function deleteAppsOf(tx: Transaction, userId: string, now: Date) {
  const owned = await store.lockAppsOf(tx, userId)
  if (owned.length > 0) await resourcesStore.holdResources(tx, owned)
  const gone = await store.removeAppsOf(tx, userId)
  for (const { clientId } of gone) await record(tx, { action: 'app.deleted', actor: 'person', userId, clientId }, now)
  return gone
}

/** What anyone may know of an app. */
export function toPublicApp(app: RegisteredApp): PublicApp {
  return {
    clientId: app.clientId,
    name: app.name,
    description: app.description,
    iconUrl: app.iconUrl,
    websiteUrl: app.websiteUrl,
    privacyUrl: app.privacyUrl,
    termsUrl: app.termsUrl,
    supportsE2ee: app.supportsE2ee,
    allowedScopes: app.allowedScopes,
  }
}

/** An app as those see it who look after it. */
export function toApp(app: RegisteredApp): App {
  return {
    ...toPublicApp(app),
    redirectUris: app.redirectUris,
    postLogoutRedirectUris: app.postLogoutRedirectUris,
    public: app.isPublic,
    status: app.status,
    ownerUserId: app.ownerUserId,
    idTokenSignedResponseAlg: app.idTokenAlgorithm,
    accessTokenTtlSeconds: app.accessTokenSeconds,
    refreshTokenTtlSeconds: app.refreshTokenSeconds,
    requireAuthTime: app.requireAuthTime,
    idTokenClaims: app.idTokenClaims,
    requiredClaims: app.requiredClaims.filter(isRequirableClaim),
    organizationAccess: app.organizationAccess,
    backchannelLogoutUri: app.backchannelLogoutUri,
    backchannelLogoutSessionRequired: app.backchannelLogoutSessionRequired,
    allowAnyLoopbackPort: app.allowAnyLoopbackPort,
    documentReadAt: app.documentReadAt?.toISOString() ?? null,
    createdAt: app.createdAt.toISOString(),
    updatedAt: app.updatedAt.toISOString(),
  }
}
