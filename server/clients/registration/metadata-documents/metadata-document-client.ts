import type { ClientId } from '@countersign/protocol/ids'
import type { UnverifiedClient } from '@countersign/protocol/pages'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { type Database, type Transaction, transaction } from '#platform/database/database.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { defaultSettings, redirectUriOrigins, usesFreedPort } from '#clients/registration/settings.ts'
import type { FetchedClientMetadata } from './metadata-document.ts'
import * as store from '#clients/registration/store.ts'

const errors = defineErrors({ invalid_client: [400, 'No active app has this client_id.'] })

/** Maximum age of a row before the next consent updates it from the document. */
const metadataFreshSeconds = 24 * 3600
/** Minimum age at which an unconnected app is deleted. A consent never leaves a row of this age. */
const unusedClientTtlSeconds = 2 * metadataFreshSeconds

/**
 * Builds an unregistered app from its metadata document. If an earlier consent stored a row, settings by the operator
 * in it apply.
 */
export function toMetadataDocumentClient(
  clientId: ClientId,
  { name, redirectUris, readAt }: FetchedClientMetadata,
  row: RegisteredApp | undefined,
): RegisteredApp {
  const unset = {
    ...defaultSettings,
    ownerUserId: null,
    ownerIdentityId: null,
    disabledByOperator: false,
    secretsSha256: [],
    secretsEndAt: [],
  }
  return {
    ...unset,
    createdAt: readAt,
    ...row,
    clientId,
    name,
    redirectUris,
    // The only verified fact about the app, for lists of apps.
    websiteUrl: new URL(clientId).origin,
    isPublic: true,
    metadataFetchedAt: readAt,
    updatedAt: readAt,
  }
}

/** Returns what the consent page must disclose about an unregistered app, or undefined for a registered one. */
export function unverifiedClientInfo(app: RegisteredApp, redirectUri: string): UnverifiedClient | undefined {
  if (!app.metadataFetchedAt) return undefined
  return { host: new URL(app.clientId).host, onDevice: isNativeRedirect(redirectUri) }
}

/**
 * Checks whether any program on a user's device could impersonate this app (RFC 8252 §8.6). This applies to responses
 * to a native redirect URI of a metadata document client, to private-use schemes, which any program can claim, and to
 * loopback ports that the app has not registered. Then earlier consent does not suffice.
 */
export function requiresFreshConsent(app: RegisteredApp, redirectUri: string): boolean {
  if (app.metadataFetchedAt) return isNativeRedirect(redirectUri)
  return isPrivateUse(redirectUri) || usesFreedPort(app, redirectUri)
}

function isPrivateUse(redirectUri: string): boolean {
  return !redirectUri.startsWith('https://') && !redirectUri.startsWith('http://')
}

function isNativeRedirect(redirectUri: string): boolean {
  return !redirectUri.startsWith('https://')
}

/**
 * Stores a metadata document client when a user consents; a request alone stores nothing. The row is locked until the
 * transaction ends. Throws `invalid_client` if the operator has disabled the app.
 */
export async function storeMetadataDocumentClient(tx: Transaction, app: RegisteredApp, now: Date): Promise<void> {
  if (!app.metadataFetchedAt) return
  const { clientId, redirectUris } = app
  const row = await store.findApp(tx, clientId)
  // Without a write, concurrent consents do not wait for each other.
  if (row && isUpToDate(row, app, now) && (await store.lockActiveAppShared(tx, clientId))) return

  const isNew = await writeRow(tx, { ...app, createdAt: now, updatedAt: now })
  await store.replaceOrigins(tx, clientId, redirectUriOrigins(redirectUris))
  if (isNew) await recordAuditEvent(tx, { action: 'app.created', actor: 'system', clientId }, now)
  const changed = row ? changesOf(row, app) : []
  if (changed.length > 0)
    await recordAuditEvent(tx, { action: 'app.updated', actor: 'system', clientId, details: { changed } }, now)
}

/**
 * Inserts or updates the row of an app. Returns whether it was inserted. The cleanup can delete an existing row before
 * the update. Throws `invalid_client` for a disabled app.
 */
async function writeRow(tx: Transaction, app: RegisteredApp): Promise<boolean> {
  if (await store.insertApp(tx, app)) return true
  if (await store.updateMetadataDocumentClient(tx, app)) return false
  if (await store.insertApp(tx, app)) return true
  throw errors.invalid_client()
}

/** Deletes up to `batch` metadata document clients that no user has connected. Returns their number. */
export function pruneMetadataDocumentClients(db: Database, now: Date, batch: number): Promise<number> {
  return transaction(db, async (tx) => {
    const gone = await store.deleteUnusedMetadataDocumentClients(tx, addSeconds(now, -unusedClientTtlSeconds), batch)
    for (const { clientId } of gone)
      await recordAuditEvent(tx, { action: 'app.deleted', actor: 'system', clientId }, now)
    return gone.length
  })
}

function isUpToDate(row: RegisteredApp, app: RegisteredApp, now: Date): boolean {
  if (!row.metadataFetchedAt || row.metadataFetchedAt < addSeconds(now, -metadataFreshSeconds)) return false
  const isNewer = app.metadataFetchedAt !== null && row.metadataFetchedAt >= app.metadataFetchedAt
  return isNewer || changesOf(row, app).length === 0
}

function changesOf(row: RegisteredApp, app: RegisteredApp): string[] {
  const isSame = {
    name: row.name === app.name,
    redirectUris: row.redirectUris.join(' ') === app.redirectUris.join(' '),
  }
  return Object.entries(isSame).flatMap(([field, same]) => (same ? [] : [field]))
}
