import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { Webhook } from 'standardwebhooks'
import { readApp } from '#clients/registration/app.ts'
import { byline, requirePresence, stewardTransaction, type Sought } from '#clients/registration/steward.ts'
import { record } from '#platform/audit/audit.ts'
import { numericDate, secondsAfter } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { refusals } from '#platform/refusal.ts'
import type { Claimed } from './claim-store.ts'
import * as store from './store.ts'

const refuse = refusals({
  webhook_not_found: [404, 'This app has no webhook.'],
  too_many_secrets: [409, 'Too many replaced secrets sign still: let some expire, or give graceSeconds 0.'],
})

const secretBytes = 32

/** Gives a webhook a secret, sealed at rest; answers it, in the form of Standard Webhooks. */
export async function addSecret(tx: Transaction, keyring: Keyring, clientId: string, now: Date): Promise<string> {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`
  await store.insertSecret(tx, {
    client_id: clientId,
    secret_id: randomUUID(),
    sealed_secret: await keyring.seal(sealOf(clientId), secret),
    created_at: now,
    expires_at: null,
  })
  return secret
}

/**
 * Gives a webhook a new secret, which is told this once. Those before it sign beside it for `graceSeconds` more, unless
 * they end sooner. Refuses `app_not_found`, `reauthentication_required`, `webhook_not_found`, `too_many_secrets`.
 */
export async function rotateWebhookSecret(
  { db, keyring }: Pick<Kernel, 'db' | 'keyring'>,
  { steward, clientId }: Sought,
  graceSeconds: number,
  now: Date,
): Promise<{ secret: string; previousUntil: Date }> {
  await readApp(db, { steward, clientId })
  requirePresence(steward, now)
  const previousUntil = secondsAfter(now, graceSeconds)
  const secret = await stewardTransaction(db, steward, async (tx) => {
    if (!(await store.lockEndpoint(tx, clientId))) throw refuse.webhook_not_found()
    const isFull = (await store.countSecrets(tx, clientId, now)) >= limits.webhookSecretsMax
    if (graceSeconds > 0 && isFull) throw refuse.too_many_secrets()

    await store.endSecrets(tx, clientId, previousUntil)
    const details = { graceSeconds }
    await record(tx, { action: 'app.webhook_secret_rotated', ...byline(steward), clientId, details }, now)
    return addSecret(tx, keyring, clientId, now)
  })
  return { secret, previousUntil }
}

type Signed = Pick<Claimed, 'clientId' | 'deliveryId' | 'payload' | 'sealedSecrets'>

/** The headers of Standard Webhooks: a signature by each secret, so that a receiver may know either. */
export async function signedHeaders(
  keyring: Keyring,
  { clientId, deliveryId, payload, sealedSecrets }: Signed,
  now: Date,
): Promise<Record<string, string>> {
  const signatures = await Promise.all(
    sealedSecrets.map(async (sealed) =>
      new Webhook(await keyring.open(sealOf(clientId), sealed)).sign(deliveryId, now, payload),
    ),
  )
  return {
    'content-type': 'application/json',
    'webhook-id': deliveryId,
    'webhook-timestamp': String(numericDate(now)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Seals anew what another root than the first has sealed, so that the operator can let that one go. */
export async function resealSecrets({ db, keyring }: Pick<Kernel, 'db' | 'keyring'>): Promise<void> {
  for (const { clientId, secretId, sealedSecret } of await store.listSecrets(db)) {
    const sealed = await keyring.renew(sealOf(clientId), sealedSecret)
    if (sealed !== sealedSecret) await store.replaceSealed(db, secretId, sealedSecret, sealed)
  }
}

/** Deletes the secrets that have ended, and says how many. */
export function pruneWebhookSecrets(db: Database, now: Date): Promise<number> {
  return store.deleteEndedSecrets(db, now)
}

/** What a secret is sealed as. */
function sealOf(clientId: string): string {
  return `webhook-secret:${clientId}`
}
