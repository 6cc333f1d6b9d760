import { limits } from '@countersign/protocol/formats/limits'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import { generateToken } from '#platform/crypto/token-format.ts'
import type { RegisteredApp } from '#clients/registration/directory.ts'
import { lockManagedApp } from '#clients/registration/app.ts'
import {
  auditActor,
  requireRecentAuthenticationOf,
  managerTransaction,
  type ManagedAppRef,
} from '#clients/registration/management.ts'
import * as store from '#clients/registration/store.ts'

const errors = defineErrors({
  invalid_request: [400, 'Public apps have no client secret.'],
  too_many_secrets: [409, 'Too many previous secrets are still valid. Wait for one to expire, or send graceSeconds 0.'],
})

/**
 * Creates a new secret for an app and returns it only here. Earlier secrets stay valid for `graceSeconds`, unless they
 * expire sooner. Throws `app_not_found`, `reauthentication_required`, `invalid_request` or `too_many_secrets`.
 */
export async function rotateSecret(
  db: Database,
  { manager, clientId }: ManagedAppRef,
  graceSeconds: number,
  now: Date,
): Promise<{ clientSecret: string; previousUntil: Date }> {
  const clientSecret = generateToken('clientSecret')
  const previousUntil = addSeconds(now, graceSeconds)
  await managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    requireRecentAuthenticationOf(manager, now)
    if (app.isPublic) throw errors.invalid_request()
    if (graceSeconds > 0 && activeSecretHashes(app, now).length >= limits.clientSecretsMax)
      throw errors.too_many_secrets()

    await store.expireSecrets(tx, clientId, previousUntil)
    await store.deleteSecretsOf(tx, clientId, now)
    await store.insertSecrets(tx, { clientId, secretsSha256: [sha256(clientSecret)], createdAt: now })
    const details = { graceSeconds }
    await recordAuditEvent(tx, { action: 'app.secret.rotated', ...auditActor(manager), clientId, details }, now)
  })
  return { clientSecret, previousUntil }
}

/**
 * Makes a secret that the caller chose the only one of an app. Throws `app_not_found`, `reauthentication_required` or
 * `invalid_request`.
 */
export function replaceSecrets(
  db: Database,
  { manager, clientId }: ManagedAppRef,
  secretSha256: Uint8Array,
  now: Date,
): Promise<void> {
  return managerTransaction(db, manager, async (tx) => {
    const app = await lockManagedApp(tx, { manager, clientId })
    requireRecentAuthenticationOf(manager, now)
    if (app.isPublic) throw errors.invalid_request()
    await store.expireSecrets(tx, clientId, now)
    await store.deleteSecretsOf(tx, clientId, now)
    await store.insertSecrets(tx, { clientId, secretsSha256: [secretSha256], createdAt: now })
    const details = { graceSeconds: 0 }
    await recordAuditEvent(tx, { action: 'app.secret.rotated', ...auditActor(manager), clientId, details }, now)
  })
}

/** Returns the hashes of the secrets that are valid at an instant. */
export function activeSecretHashes(
  app: Pick<RegisteredApp, 'secretsSha256' | 'secretsEndAt'>,
  now: Date,
): Uint8Array[] {
  return app.secretsSha256.filter((_, nth) => {
    const end = app.secretsEndAt[nth]
    return !end || end > now
  })
}

/** Deletes up to `batch` expired secrets. Returns their number. */
export function pruneSecrets(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteExpiredSecrets(db, now, batch)
}
