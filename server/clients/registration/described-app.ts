import type { Unverified } from '@countersign/protocol/pages'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { transaction, type Database, type Transaction } from '#platform/database/database.ts'
import { refusals } from '#platform/refusal.ts'
import type { RegisteredApp } from './app-directory.ts'
import { defaultSettings } from './app-settings.ts'
import type { ReadDescription } from './client-documents.ts'
import { originsOf, usesFreedPort } from './redirect-uri.ts'
import * as store from './store.ts'

const refuse = refusals({ invalid_client: [400, 'No app is registered under this client id.'] })

/** How old a row may be, before the next consent writes what the document says now. */
const rowFreshSeconds = 24 * 3600
/** How old it is at least when it goes because nobody has the app connected: no consent leaves one of this age. */
const rowUnusedSeconds = 2 * rowFreshSeconds

/**
 * An app that nobody has registered, by what it says of itself. Of a row that somebody's consent has left, what the
 * operator may have set since is heeded.
 */
export function describeApp(
  clientId: string,
  { name, redirectUris, readAt }: ReadDescription,
  row: RegisteredApp | undefined,
): RegisteredApp {
  const unset = { ...defaultSettings, ownerUserId: null, isHeld: false, secretsSha256: [], secretsEndAt: [] }
  return {
    ...unset,
    createdAt: readAt,
    ...row,
    clientId,
    name,
    redirectUris,
    // The one thing about it that is sure, for wherever apps are listed.
    websiteUrl: new URL(clientId).origin,
    isPublic: true,
    documentReadAt: readAt,
    updatedAt: readAt,
  }
}

/** What a person must know of an app that is not registered; undefined for one that is. */
export function readUnverified(app: RegisteredApp, redirectUri: string): Unverified | undefined {
  if (!app.documentReadAt) return undefined
  return { host: new URL(app.clientId).host, onDevice: leadsToDevice(redirectUri) }
}

/**
 * Whether any program on a person's device may claim to be this app, since its answers go to a program there, of an app
 * that describes itself, or on a port that the app has not registered: then nothing is settled by a consent of before
 * (RFC 8252 §8.6).
 */
export function mustAskAnew(app: RegisteredApp, redirectUri: string): boolean {
  return app.documentReadAt ? leadsToDevice(redirectUri) : usesFreedPort(app, redirectUri)
}

function leadsToDevice(redirectUri: string): boolean {
  return !redirectUri.startsWith('https://')
}

/**
 * Puts an app on record that a person consents to, where it is not registered; a request alone writes nothing. The row
 * stays at least as long as this transaction. Refuses `invalid_client` where the operator has disabled it.
 */
export async function recordDescribed(tx: Transaction, app: RegisteredApp, now: Date): Promise<void> {
  if (!app.documentReadAt) return
  const { clientId, redirectUris } = app
  const row = await store.findApp(tx, clientId)
  // Without a write those who consent at once don't wait for each other.
  if (row && isUpToDate(row, app, now) && (await store.holdActiveApp(tx, clientId))) return

  const isNew = await writeRow(tx, { ...app, createdAt: now, updatedAt: now })
  await store.replaceOrigins(tx, clientId, originsOf(redirectUris))
  if (isNew) await record(tx, { action: 'app.created', actor: 'system', clientId }, now)
  const changed = row ? changesOf(row, app) : []
  if (changed.length > 0)
    await record(tx, { action: 'app.changed', actor: 'system', clientId, details: { changed } }, now)
}

/**
 * Writes the row of an app; answers whether there was none. One that was there may be swept away before it is updated,
 * and then is there no more. Refuses `invalid_client` for an app that is disabled.
 */
async function writeRow(tx: Transaction, app: RegisteredApp): Promise<boolean> {
  if (await store.insertApp(tx, app)) return true
  if (await store.updateDescribed(tx, app)) return false
  if (await store.insertApp(tx, app)) return true
  throw refuse.invalid_client()
}

/** Deletes up to `batch` apps that nobody has connected any more, and that nobody has registered; says how many. */
export function pruneDescribed(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const gone = await store.deleteUnusedDescribed(tx, secondsAfter(now, -rowUnusedSeconds), batch)
    for (const { clientId } of gone) await record(tx, { action: 'app.deleted', actor: 'system', clientId }, now)
    return gone.length
  })
}

function isUpToDate(row: RegisteredApp, app: RegisteredApp, now: Date): boolean {
  if (!row.documentReadAt || row.documentReadAt < secondsAfter(now, -rowFreshSeconds)) return false
  const isNewer = app.documentReadAt !== null && row.documentReadAt >= app.documentReadAt
  return isNewer || changesOf(row, app).length === 0
}

function changesOf(row: RegisteredApp, app: RegisteredApp): string[] {
  const isSame = {
    name: row.name === app.name,
    redirectUris: row.redirectUris.join(' ') === app.redirectUris.join(' '),
  }
  return Object.entries(isSame).flatMap(([field, same]) => (same ? [] : [field]))
}
