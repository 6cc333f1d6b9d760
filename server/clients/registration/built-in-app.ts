import { asId, type ClientId } from '@countersign/protocol/ids'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { type Database, transaction } from '#platform/database/database.ts'
import {
  type NewAppSettings,
  defaultSettings,
  playgroundClientId,
  playgroundNotesClientId,
  redirectUriOrigins,
} from './settings.ts'
import * as store from './store.ts'

export { playgroundClientId, playgroundNotesClientId }

/** The app whose calendar the playground reads for a user. It has no users of its own. */
export const playgroundCalendarClientId = asId<ClientId>('app_playground_calendar')

/** The apps that the service creates itself while `DEMO` is on. */
export const builtInClientIds = [playgroundClientId, playgroundNotesClientId, playgroundCalendarClientId]

/** Creates or updates a public app of this service with exactly these settings. Safe in concurrent processes. */
export async function ensureApp(
  db: Database,
  clientId: ClientId,
  settings: Omit<NewAppSettings, 'access'>,
  now: Date,
): Promise<void> {
  const app = {
    ...defaultSettings,
    ...settings,
    clientId,
    ownerUserId: null,
    ownerIdentityId: null,
    isPublic: true,
    disabledByOperator: false,
    secretsSha256: [],
    secretsEndAt: [],
    metadataFetchedAt: null,
    createdAt: now,
    updatedAt: now,
  }
  await transaction(db, async (tx) => {
    const isNew = await store.insertApp(tx, app)
    if (!isNew) await store.updateApp(tx, app)
    await store.replaceOrigins(tx, clientId, redirectUriOrigins(app.redirectUris))
    if (isNew) await recordAuditEvent(tx, { action: 'app.created', actor: 'system', clientId }, now)
  })
}

/** Deletes an app of this service, if it exists. */
export async function deleteBuiltInApp(db: Database, clientId: ClientId, now: Date): Promise<void> {
  await transaction(db, async (tx) => {
    const existed = await store.deleteApp(tx, clientId, now)
    if (existed) await recordAuditEvent(tx, { action: 'app.deleted', actor: 'system', clientId }, now)
  })
}
