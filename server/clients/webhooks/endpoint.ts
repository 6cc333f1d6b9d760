import type { AccountExport } from '@countersign/protocol/accounts/account'
import type { Webhook } from '@countersign/protocol/clients/webhooks'
import type { ClientId, UserId } from '@countersign/protocol/ids'
import { clientFor } from '#clients/registration/operator-app.ts'
import { getApp, listAppsOf } from '#clients/registration/app.ts'
import { toApp } from '#clients/registration/view/app-view.ts'
import {
  auditActor,
  requireRecentAuthenticationOf,
  managerTransaction,
  type ManagedAppRef,
} from '#clients/registration/management.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database, Transaction } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { findAppEndpoint, requireFound } from './app-endpoint.ts'
import { failPendingDeliveries } from './cleanup-store.ts'
import { createSecret, setWebhookSecret } from './secret.ts'
import * as store from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'The webhook url is not allowed.'],
})

/** Returns the webhook of an app. Throws `app_not_found` or `webhook_not_found`. */
export async function getWebhook(db: Database, target: ManagedAppRef): Promise<Webhook> {
  await getApp(db, target)
  return toWebhook(await findAppEndpoint(db, target.clientId))
}

/** Exports the apps of a user with their webhooks, one at a time. */
export async function* exportApps(db: Database, userId: UserId): AsyncGenerator<AccountExport['apps']> {
  for (const app of await listAppsOf(db, userId))
    yield [{ ...toApp(app), webhook: await findWebhook(db, app.clientId) }]
}

/** Finds the webhook of an app whose manager is already checked. Returns null if it has none. */
export async function findWebhook(db: Database | Transaction, clientId: ClientId): Promise<Webhook | null> {
  const found = await store.findEndpoint(db, clientId)
  return found ? toWebhook(found) : null
}

type WebhookInput = { url: string; secret?: string | undefined }

/**
 * Sets the webhook of an app. A given secret replaces all others. If none is given the first time, it creates a secret
 * and returns it only here. Throws `invalid_request`, `app_not_found` or `reauthentication_required`.
 */
export async function setWebhook(
  { db, keyring, outbound }: Pick<ServerContext, 'db' | 'keyring' | 'outbound'>,
  { manager, clientId }: ManagedAppRef,
  { url, secret }: WebhookInput,
  now: Date,
): Promise<Webhook & { secret?: string }> {
  const app = await getApp(db, { manager, clientId })
  const objection = clientFor(outbound, app).objectionTo(url)
  if (objection !== undefined) throw errors.invalid_request({ sentence: `url ${objection}.` })
  requireRecentAuthenticationOf(manager, now)

  return managerTransaction(db, manager, async (tx) => {
    const inserted = await store.insertEndpoint(tx, clientId, url, now)
    const endpoint = requireFound(inserted ?? (await store.updateEndpoint(tx, clientId, url, now)))
    // The path can be a secret of the receiver.
    const details = { origin: new URL(url).origin }
    await recordAuditEvent(tx, { action: 'app.webhook.updated', ...auditActor(manager), clientId, details }, now)
    if (secret !== undefined) await setWebhookSecret({ db: tx, keyring }, { manager, clientId }, secret, now)
    if (secret !== undefined || !inserted) return toWebhook(endpoint)
    return { ...toWebhook(endpoint), secret: await createSecret(tx, keyring, endpoint.receiverId, now) }
  })
}

/**
 * Deletes a webhook with its secrets. Nothing is sent or shown of it any more. Throws `app_not_found` or
 * `webhook_not_found`.
 */
export async function removeWebhook(db: Database, { manager, clientId }: ManagedAppRef, now: Date): Promise<void> {
  await getApp(db, { manager, clientId })
  await managerTransaction(db, manager, async (tx) => {
    const { receiverId } = await findAppEndpoint(tx, clientId)
    requireFound(await store.lockEndpoint(tx, receiverId))
    await store.deleteEndpoint(tx, receiverId)
    await recordAuditEvent(tx, { action: 'app.webhook.removed', ...auditActor(manager), clientId }, now)
  })
}

/** Disables a webhook whose receiver responded 410 (Gone), until it is set again. */
export async function disableWebhook(tx: Transaction, receiverId: string, url: string, now: Date): Promise<void> {
  const disabled = await store.disableEndpoint(tx, receiverId, url, now)
  if (!disabled) return
  await failPendingDeliveries(tx, receiverId)
  const { clientId, ownerUserId } = disabled
  if (clientId === null) {
    const details = { webhookId: receiverId, origin: new URL(url).origin }
    return recordAuditEvent(tx, { action: 'webhook.disabled', actor: 'system', details }, now)
  }
  const owner = ownerUserId === null ? {} : { userId: ownerUserId }
  await recordAuditEvent(tx, { action: 'app.webhook.disabled', actor: 'system', ...owner, clientId }, now)
}

type Endpoint = NonNullable<Awaited<ReturnType<typeof store.findEndpoint>>>

function toWebhook({ url, disabledAt, createdAt, updatedAt }: Endpoint): Webhook {
  return {
    url,
    status: disabledAt ? 'disabled' : 'active',
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  }
}
