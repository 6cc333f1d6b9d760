import { limits } from '@countersign/protocol/formats/limits'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import type { Database } from '#platform/database/database.ts'
import { sha256 } from '#platform/crypto/digest.ts'
import { refusals } from '#platform/refusal.ts'
import { newToken } from '#platform/crypto/token-format.ts'
import type { RegisteredApp } from './app-directory.ts'
import { requireAppOf } from './app.ts'
import { byline, requirePresence, stewardTransaction, type Sought } from './steward.ts'
import * as store from './store.ts'

const refuse = refusals({
  invalid_request: [400, 'A public app has no secret.'],
  too_many_secrets: [409, 'Too many replaced secrets of this app still work: let some expire, or give graceSeconds 0.'],
})

/**
 * Gives an app a new secret, which is told this once. The ones before work for `graceSeconds` more, unless they end
 * sooner. Refuses `app_not_found`, `reauthentication_required`, `invalid_request`, `too_many_secrets`.
 */
export async function rotateSecret(
  db: Database,
  { steward, clientId }: Sought,
  graceSeconds: number,
  now: Date,
): Promise<{ clientSecret: string; previousUntil: Date }> {
  const clientSecret = newToken('clientSecret')
  const previousUntil = secondsAfter(now, graceSeconds)
  await stewardTransaction(db, steward, async (tx) => {
    const app = requireAppOf(steward, await store.lockApp(tx, clientId))
    requirePresence(steward, now)
    if (app.isPublic) throw refuse.invalid_request()
    if (graceSeconds > 0 && liveSecretsOf(app, now).length >= limits.clientSecretsMax) throw refuse.too_many_secrets()

    await store.endSecrets(tx, clientId, previousUntil)
    await store.deleteSecretsOf(tx, clientId, now)
    await store.insertSecrets(tx, { clientId, secretsSha256: [sha256(clientSecret)], createdAt: now })
    const details = { graceSeconds }
    await record(tx, { action: 'app.secret_rotated', ...byline(steward), clientId, details }, now)
  })
  return { clientSecret, previousUntil }
}

/** The hashes of the secrets that work at an instant. */
export function liveSecretsOf(app: Pick<RegisteredApp, 'secretsSha256' | 'secretsEndAt'>, now: Date): Uint8Array[] {
  return app.secretsSha256.filter((_, nth) => {
    const end = app.secretsEndAt[nth]
    return !end || end > now
  })
}

/** Deletes up to `batch` secrets that have ended, and says how many. */
export function pruneSecrets(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteEndedSecrets(db, now, batch)
}
