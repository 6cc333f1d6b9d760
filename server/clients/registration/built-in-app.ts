import { record } from '#platform/audit/audit.ts'
import { transaction, type Database } from '#platform/database/database.ts'
import { defaultSettings, type NewAppSettings } from './app-settings.ts'
import { originsOf, playgroundClientId } from './redirect-uri.ts'
import * as store from './store.ts'

export { playgroundClientId }

/** Makes a public app of this service's own exist, with just these settings. Processes may do so at the same time. */
export async function ensureApp(db: Database, clientId: string, settings: NewAppSettings, now: Date): Promise<void> {
  const app = {
    ...defaultSettings,
    ...settings,
    clientId,
    ownerUserId: null,
    isPublic: true,
    isHeld: false,
    secretsSha256: [],
    secretsEndAt: [],
    documentReadAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await transaction(db, async (tx) => {
    const isNew = await store.insertApp(tx, app)
    if (!isNew) await store.updateApp(tx, app)
    await store.replaceOrigins(tx, clientId, originsOf(app.redirectUris))
    if (isNew) await record(tx, { action: 'app.created', actor: 'system', clientId }, now)
  })
}

/** Makes an app of this service's own not exist. */
export async function dropApp(db: Database, clientId: string, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const existed = await store.removeApp(tx, clientId)
    if (existed) await record(tx, { action: 'app.deleted', actor: 'system', clientId }, now)
  })
}
