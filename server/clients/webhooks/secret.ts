import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import { Webhook } from 'standardwebhooks'
import { getApp } from '#clients/registration/app.ts'
import {
  auditActor,
  requireRecentAuthenticationOf,
  managerTransaction,
  type ManagedAppRef,
} from '#clients/registration/management.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { ClientId } from '@countersign/protocol/ids'
import { toNumericDate, addSeconds } from '#platform/clock.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import type { Keyring } from '#platform/crypto/keyring.ts'
import { ConfigError } from '#platform/config-error.ts'
import { randomBytes } from '#platform/crypto/random.ts'
import { equalBytes, sha256 } from '#platform/crypto/secret.ts'
import { defineErrors } from '#platform/api-error.ts'
import type { ClaimedDelivery } from './claim-store.ts'
import { findAppEndpoint, requireFound } from './app-endpoint.ts'
import { deleteEndedSecrets } from './cleanup-store.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'A webhook secret is whsec_ and 24 to 64 bytes in base64.'],
  too_many_secrets: [
    409,
    'Too many previous webhook secrets are still valid. Wait for one to expire, or send graceSeconds 0.',
  ],
})

const prefix = 'whsec_'
const secretBytes = 32

/** Creates a webhook secret, sealed at rest. Returns it in the format of Standard Webhooks. */
export async function createSecret(tx: Transaction, keyring: Keyring, receiverId: string, now: Date): Promise<string> {
  const secret = `${prefix}${randomBytes(secretBytes).toString('base64')}`
  await storeSecret(tx, keyring, { receiverId, secret }, now)
  return secret
}

/** Stores a secret in the format of Standard Webhooks, sealed. Throws `invalid_request` if it has another format. */
async function storeSecret(
  tx: Transaction,
  keyring: Keyring,
  { receiverId, secret }: { receiverId: string; secret: string },
  now: Date,
): Promise<void> {
  if (!isSecret(secret)) throw errors.invalid_request()
  await store.insertSecret(tx, {
    receiver_id: receiverId,
    secret_id: randomUUID(),
    sealed_secret: await keyring.seal(sealOf(receiverId), secret),
    created_at: now,
    expires_at: null,
  })
}

/** Checks for `whsec_` and 24 to 64 bytes in base64. */
function isSecret(text: string): boolean {
  const encoded = text.slice(prefix.length)
  const bytes = Buffer.from(encoded, 'base64')
  return text.startsWith(prefix) && bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}

/**
 * Checks whether the webhook of an app signs with this secret now. One that the root keys do not open, because a root
 * key was lost, is another one.
 */
export async function isCurrentSecret(
  { db, keyring }: { db: Database | Transaction; keyring: Keyring },
  clientId: ClientId,
  secret: string,
): Promise<boolean> {
  const current = await store.findCurrentSecret(db, clientId)
  if (!current) return false
  try {
    return equalBytes(sha256(await keyring.open(sealOf(current.receiverId), current.sealedSecret)), sha256(secret))
  } catch (error) {
    if (error instanceof ConfigError) return false
    throw error
  }
}

/**
 * Creates a new webhook secret and returns it only here. Earlier secrets sign too for `graceSeconds`, unless they
 * expire sooner. Throws `app_not_found`, `reauthentication_required`, `webhook_not_found` or `too_many_secrets`.
 */
export async function rotateWebhookSecret(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  { manager, clientId }: ManagedAppRef,
  graceSeconds: number,
  now: Date,
): Promise<{ secret: string; previousUntil: Date }> {
  await getApp(db, { manager, clientId })
  requireRecentAuthenticationOf(manager, now)
  return managerTransaction(db, manager, async (tx) => {
    const { receiverId } = await findAppEndpoint(tx, clientId)
    const replaced = await replaceSecret(tx, keyring, { receiverId, graceSeconds }, now)
    const details = { graceSeconds }
    await recordAuditEvent(tx, { action: 'app.webhook.secret_rotated', ...auditActor(manager), clientId, details }, now)
    return replaced
  })
}

/** Makes a given secret the only one of a webhook at once. Throws like `rotateWebhookSecret`, and `invalid_request`. */
export async function setWebhookSecret(
  { db, keyring }: Pick<ServerContext, 'db' | 'keyring'>,
  { manager, clientId }: ManagedAppRef,
  secret: string,
  now: Date,
): Promise<void> {
  requireRecentAuthenticationOf(manager, now)
  await managerTransaction(db, manager, async (tx) => {
    const { receiverId } = await findAppEndpoint(tx, clientId)
    requireFound(await store.lockEndpoint(tx, receiverId))
    await store.endSecrets(tx, receiverId, now)
    await storeSecret(tx, keyring, { receiverId, secret }, now)
    const details = { graceSeconds: 0 }
    await recordAuditEvent(tx, { action: 'app.webhook.secret_rotated', ...auditActor(manager), clientId, details }, now)
  })
}

type Replaced = { receiverId: string; graceSeconds: number }

/** Creates a new secret of a webhook. Earlier ones sign too for `graceSeconds`. Throws like `rotateWebhookSecret`. */
export async function replaceSecret(
  tx: Transaction,
  keyring: Keyring,
  { receiverId, graceSeconds }: Replaced,
  now: Date,
): Promise<{ secret: string; previousUntil: Date }> {
  requireFound(await store.lockEndpoint(tx, receiverId))
  const isFull = (await store.countSecrets(tx, receiverId, now)) >= limits.webhookSecretsMax
  if (graceSeconds > 0 && isFull) throw errors.too_many_secrets()
  const previousUntil = addSeconds(now, graceSeconds)
  await store.endSecrets(tx, receiverId, previousUntil)
  return { secret: await createSecret(tx, keyring, receiverId, now), previousUntil }
}

type Signed = Pick<ClaimedDelivery, 'receiverId' | 'deliveryId' | 'payload' | 'sealedSecrets'>

/**
 * Returns the headers of Standard Webhooks, with a signature by each secret, so that the receiver needs only one of
 * them.
 */
export async function signatureHeaders(
  keyring: Keyring,
  { receiverId, deliveryId, payload, sealedSecrets }: Signed,
  now: Date,
): Promise<Record<string, string>> {
  const signatures = await Promise.all(
    sealedSecrets.map(async (sealed) =>
      new Webhook(await keyring.open(sealOf(receiverId), sealed)).sign(deliveryId, now, payload),
    ),
  )
  return {
    'content-type': 'application/json',
    'webhook-id': deliveryId,
    'webhook-timestamp': String(toNumericDate(now)),
    'webhook-signature': signatures.join(' '),
  }
}

/** Re-encrypts secrets that are not under the current root key, so that the operator can remove the old one. */
export async function reencryptWebhookSecrets({ db, keyring }: Pick<ServerContext, 'db' | 'keyring'>): Promise<void> {
  for (const { receiverId, secretId, sealedSecret } of await store.listSecrets(db, keyring)) {
    const sealed = await keyring.renew(sealOf(receiverId), sealedSecret)
    if (sealed !== sealedSecret) await store.replaceSealed(db, secretId, sealedSecret, sealed)
  }
}

/** Deletes expired secrets. Returns their number. */
export function pruneWebhookSecrets(db: Database, now: Date): Promise<number> {
  return deleteEndedSecrets(db, now)
}

/** Returns the context under which a secret is sealed. */
function sealOf(receiverId: string): string {
  return `webhook-secret:${receiverId}`
}
