import type { Transaction } from '#platform/database/database.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { pictureUrl, removePicture, renderUpload, replacePicture } from '#platform/pictures/picture.ts'
import type { Workshop } from '#platform/pictures/workshop.ts'
import { getApp, lockManagedApp } from './app.ts'
import type { RegisteredApp } from './directory.ts'
import { type AppManager, auditActor, type ManagedAppRef, managerTransaction } from './management.ts'
import * as store from './store.ts'

type Rendering = Pick<ServerContext, 'db' | 'config'> & { workshop: Workshop }

/** Returns whose uploads share a turn. */
export function uploaderOf(manager: AppManager): string {
  return manager.actor === 'user' ? manager.session.userId : manager.actor
}

/** Makes an uploaded picture the logo of an app. Throws `app_not_found`, and the errors of `renderUpload`. */
export async function setIcon(
  { db, config, workshop }: Rendering,
  { manager, clientId }: ManagedAppRef,
  bytes: Buffer,
  now: Date,
): Promise<RegisteredApp> {
  await getApp(db, { manager, clientId })
  const rendered = await renderUpload(workshop, uploaderOf(manager), 'app', bytes)
  return managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    const pictureId = await replacePicture(tx, { kind: 'app', id: clientId }, rendered, now)
    return updateIcon(tx, { manager, app }, pictureUrl(config.baseUrl, pictureId), now)
  })
}

/** Removes the logo of an app, uploaded or not. Throws `app_not_found`. */
export function removeIcon(
  { db }: Pick<ServerContext, 'db'>,
  { manager, clientId }: ManagedAppRef,
  now: Date,
): Promise<RegisteredApp> {
  return managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    if (app.iconUrl === null) return app
    await removePicture(tx, clientId)
    return updateIcon(tx, { manager, app }, null, now)
  })
}

async function updateIcon(
  tx: Transaction,
  { manager, app }: Pick<ManagedAppRef, 'manager'> & { app: RegisteredApp },
  iconUrl: string | null,
  now: Date,
): Promise<RegisteredApp> {
  const changed = { ...app, iconUrl, updatedAt: now }
  await store.updateApp(tx, changed)
  const details = { changed: ['iconUrl'] }
  await recordAuditEvent(tx, { action: 'app.updated', ...auditActor(manager), clientId: app.clientId, details }, now)
  return changed
}
