import type { PublicApp } from '@countersign/protocol/apps'
import { record, type AuditAction } from '#kernel/audit.ts'
import { transaction, type Database } from '#kernel/database.ts'
import { sha256 } from '#kernel/digest.ts'
import { randomBytes } from '#kernel/random.ts'
import { refusals } from '#kernel/refusal.ts'
import { newToken } from '#kernel/token-format.ts'
import type { RegisteredApp } from './app-directory.ts'
import { defaultSettings, requireAcceptable, type AppSettings, type NewAppSettings } from './app-settings.ts'
import { originsOf } from './redirect-uri.ts'
import * as store from './store.ts'

const refuse = refusals({ app_not_found: [404, 'There is no such app.'] })

const byOperator = (action: AuditAction, clientId: string) => ({ action, actor: 'operator' as const, clientId })

/**
 * Registers an app. A confidential one gets a secret, which is told this once and kept as its SHA-256; a public one has
 * none. Refuses `invalid_redirect_uri`, `invalid_request`.
 */
export async function createApp(db: Database, isPublic: boolean, settings: NewAppSettings, now: Date) {
  requireAcceptable(settings, isPublic)
  const clientId = `app_${randomBytes(16).toString('hex')}`
  const clientSecret = isPublic ? undefined : newToken('clientSecret')
  const secretsSha256 = clientSecret === undefined ? [] : [sha256(clientSecret)]
  const secretsEndAt = secretsSha256.map(() => null)
  const kept = { clientId, isPublic, secretsSha256, secretsEndAt, createdAt: now, updatedAt: now }
  const app = { ...defaultSettings, ...settings, ...kept }

  await transaction(db, async (tx) => {
    const isNew = await store.insertApp(tx, app)
    if (!isNew) throw new Error(`The client id ${clientId} was drawn twice.`)
    await store.insertSecrets(tx, app)
    await store.replaceOrigins(tx, clientId, originsOf(app.redirectUris))
    await record(tx, byOperator('app.created', clientId), now)
  })
  return { app, clientSecret }
}

export function listApps(db: Database): Promise<RegisteredApp[]> {
  return store.listApps(db)
}

/** The app as it is now, whatever a cache remembers. Refuses `app_not_found`. */
export async function readApp(db: Database, clientId: string): Promise<RegisteredApp> {
  return requireApp(await store.findApp(db, clientId))
}

/** Refuses `app_not_found` where a look-up has found none. */
export function requireApp(found: RegisteredApp | undefined): RegisteredApp {
  if (!found) throw refuse.app_not_found()
  return found
}

/** Changes what is given and leaves the rest. Refuses `app_not_found`, `invalid_redirect_uri`, `invalid_request`. */
export function changeApp(
  db: Database,
  clientId: string,
  change: Partial<AppSettings>,
  now: Date,
): Promise<RegisteredApp> {
  return transaction(db, async (tx) => {
    const app = requireApp(await store.lockApp(tx, clientId))
    requireAcceptable(change, app.isPublic)

    const changed = { ...app, ...change, updatedAt: now }
    await store.updateApp(tx, changed)
    await store.replaceOrigins(tx, clientId, originsOf(changed.redirectUris))
    await record(tx, { ...byOperator('app.changed', clientId), details: { changed: Object.keys(change) } }, now)
    return changed
  })
}

/**
 * Deletes an app with its secrets. Its codes and tokens need no sweep to die: whatever redeems or accepts one looks its
 * app up first. Refuses `app_not_found`.
 */
export async function deleteApp(db: Database, clientId: string, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    if (!(await store.removeApp(tx, clientId))) throw refuse.app_not_found()
    await record(tx, byOperator('app.deleted', clientId), now)
  })
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
    supportsE2ee: false,
    allowedScopes: app.allowedScopes,
  }
}
