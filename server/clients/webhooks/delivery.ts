import { createWakeup } from '#platform/queue/wakeup.ts'
import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { ServiceEvent, WebhookEvent } from '@countersign/protocol/clients/webhook-events'
import type { WebhookAttempt, WebhookDelivery, WebhookFault } from '@countersign/protocol/clients/webhooks'
import type { IdentityId } from '@countersign/protocol/ids'
import { getApp } from '#clients/registration/app.ts'
import { type ManagedAppRef, auditActor, managerTransaction } from '#clients/registration/management.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import { addSeconds } from '#platform/clock.ts'
import { type Database, type Transaction, afterCommit } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { defineErrors } from '#platform/api-error.ts'
import { findAppEndpoint, requireFound } from './app-endpoint.ts'
import * as cleanupStore from './cleanup-store.ts'
import * as deliveryStore from './store.ts'
import type { EventPart } from './event-parts.ts'
import type { Delivery } from './store.ts'

const wakeup = createWakeup()

/** Wakes the webhook sender of this process. The sender also polls. */
export const notifySender = wakeup.notify

export const onDeliveryEnqueued = wakeup.onNotified

const errors = defineErrors({
  webhook_disabled: [409, 'The app or its webhook is disabled.'],
  delivery_not_found: [404, 'Delivery not found.'],
  delivery_not_redeliverable: [409, 'Only failed deliveries can be redelivered.'],
})

/** An event, and the values that are added to its data unless their identities are deleted before it is sent. */
export type QueuedEvent = WebhookEvent & { parts?: EventPart[] }

/**
 * Queues webhook events for apps that subscribe to them. Each delivery is a row of the transaction and is sent after
 * the commit. Returns the IDs of the deliveries. Disabled apps and apps without a webhook get none.
 *
 * Until it ends, the transaction holds a lock for which the deletion of the identities of its parts waits.
 */
export async function enqueueWebhooks(tx: Transaction, events: QueuedEvent[], now: Date): Promise<string[]> {
  if (events.length === 0) return []
  const deliveries = events.map(({ clientId, type, data, parts = [] }) => ({
    parts,
    to: clientId,
    deliveryId: randomUUIDv7(),
    type,
    payload: JSON.stringify({ type, timestamp: now.toISOString(), data }),
  }))
  const queued = await deliveryStore.insertDeliveries(tx, deliveries, now)
  const partsOf = new Map<string, EventPart[]>(deliveries.map(({ deliveryId, parts }) => [deliveryId, parts]))
  const parts = queued.flatMap(({ receiverId, deliveryId }) =>
    (partsOf.get(deliveryId) ?? []).map(({ identityId, path, value }) => {
      return { receiverId, deliveryId, identityId, path, value: JSON.stringify(value) }
    }),
  )
  if (parts.length > 0) await deliveryStore.insertParts(tx, parts)
  if (queued.length > 0) afterCommit(tx, notifySender)
  return queued.map(({ deliveryId }) => deliveryId)
}

/** Sends a test event to an app. Throws `app_not_found`, `webhook_not_found`, `webhook_disabled` or `rate_limited`. */
export async function sendTestEvent(
  { db, rateLimits }: Pick<ServerContext, 'db' | 'rateLimits'>,
  { manager, clientId: named }: ManagedAppRef,
  now: Date,
): Promise<string> {
  const { clientId } = await getApp(db, { manager, clientId: named })
  await findAppEndpoint(db, clientId)
  await rateLimits.count('webhook-tests-per-app', clientId)
  const event: WebhookEvent = { clientId, type: 'webhook.test', data: { clientId } }
  const [deliveryId] = await managerTransaction(db, manager, (tx) => enqueueWebhooks(tx, [event], now))
  if (deliveryId === undefined) throw errors.webhook_disabled()
  return deliveryId
}

/**
 * Redelivers a failed event under its ID, once for concurrent requests. If that fails too, its remaining attempts
 * follow. Throws `app_not_found`, `webhook_not_found`, `delivery_not_found`, `delivery_not_redeliverable` or
 * `webhook_disabled`.
 */
export async function redeliver(
  db: Database,
  { manager, clientId, deliveryId }: ManagedAppRef & { deliveryId: string },
  now: Date,
): Promise<WebhookDelivery> {
  await getApp(db, { manager, clientId })
  return managerTransaction(db, manager, async (tx) => {
    const { receiverId } = await findAppEndpoint(tx, clientId)
    const delivery = await requeue(tx, { receiverId, deliveryId }, now)
    await recordAuditEvent(
      tx,
      { action: 'app.webhook.redelivered', ...auditActor(manager), clientId, details: { deliveryId } },
      now,
    )
    return delivery
  })
}

type Sent = { receiverId: string; deliveryId: string }

/**
 * Queues a failed delivery again, under its ID. Throws `webhook_not_found`, `delivery_not_found`,
 * `delivery_not_redeliverable` or `webhook_disabled`.
 */
export async function requeue(tx: Transaction, { receiverId, deliveryId }: Sent, now: Date): Promise<WebhookDelivery> {
  requireFound(await deliveryStore.lockEndpoint(tx, receiverId))
  const delivery = await deliveryStore.requeueDelivery(tx, receiverId, deliveryId, now)
  if (!delivery) throw await refusalToSend(tx, receiverId, deliveryId)
  afterCommit(tx, notifySender)
  return toDelivery(delivery, await deliveryStore.listAttempts(tx, receiverId, deliveryId))
}

/** Queues a test event for a webhook of the service. Returns undefined if it is disabled. */
export async function enqueueServiceTest(tx: Transaction, webhookId: string, now: Date): Promise<string | undefined> {
  const event: ServiceEvent = { type: 'service.test', data: { webhookId } }
  const payload = JSON.stringify({ type: event.type, timestamp: now.toISOString(), data: event.data })
  const delivery = { to: webhookId, deliveryId: randomUUIDv7(), type: event.type, payload }
  const [queued] = await deliveryStore.insertDeliveries(tx, [delivery], now)
  afterCommit(tx, notifySender)
  return queued?.deliveryId
}

/** Returns the error for a delivery that was not requeued. */
async function refusalToSend(tx: Transaction, receiverId: string, deliveryId: string) {
  const state = await deliveryStore.findState(tx, receiverId, deliveryId)
  if (state === undefined) return errors.delivery_not_found()
  return state === 'failed' ? errors.webhook_disabled() : errors.delivery_not_redeliverable()
}

type Page = { before: string | undefined; count: number }

/** Lists the deliveries of an app, newest first. Throws `app_not_found` or `webhook_not_found`. */
export async function listDeliveries(db: Database, target: ManagedAppRef, page: Page) {
  const { clientId } = await getApp(db, target)
  const { receiverId } = await findAppEndpoint(db, clientId)
  return listDeliveriesTo(db, receiverId, page)
}

/** Lists the deliveries to an existing webhook, newest first. */
export async function listDeliveriesTo(db: Database, receiverId: string, { before, count }: Page) {
  // One more than requested shows whether there is a next page.
  const found = await deliveryStore.listDeliveries(db, receiverId, before, count + 1)
  const each = [...Map.groupBy(found, ({ deliveryId }) => deliveryId).values()]
  const deliveries = each.slice(0, count).flatMap((rows) => (rows[0] ? [toDelivery(rows[0], rows)] : []))
  return { deliveries, nextCursor: each.length > count ? (deliveries.at(-1)?.deliveryId ?? null) : null }
}

export type Attempt = Pick<deliveryStore.Outcome, 'status' | 'reason'> & { at: Date | null }

function toDelivery(
  { deliveryId, type, state, createdAt, nextAttemptAt }: Delivery,
  attempts: Attempt[],
): WebhookDelivery {
  return {
    deliveryId,
    type,
    state,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: nextAttemptAt && nextAttemptAt.toISOString(),
    attempts: attempts.flatMap(toAttempt),
  }
}

/** Returns an attempt as receivers' owners read it, or none for a delivery without an attempt. */
export function toAttempt({ at, status, reason }: Attempt): WebhookAttempt[] {
  return at ? [{ at: at.toISOString(), status, reason: faultOf(reason) }] : []
}

/** Returns the failure reason for the webhook's owner, without names, addresses and ports of the operator's network. */
function faultOf(reason: string | null): WebhookFault | null {
  if (reason === null || reason === 'timed_out' || reason === 'app_disabled' || reason === 'not_signed') return reason
  return 'could_not_connect'
}

/** Deletes what events that may still be sent contain of identities that are being deleted. */
export async function deleteEventParts(tx: Transaction, identityIds: IdentityId[]): Promise<void> {
  await deliveryStore.deletePartsOf(tx, identityIds)
}

/** Deletes up to `batch` deliveries after their retention. Returns their number. */
export function pruneDeliveries(db: Database, now: Date, batch: number): Promise<number> {
  return cleanupStore.deleteDeliveries(db, addSeconds(now, -limits.webhookDeliveryKeptSeconds), batch)
}

/** Deletes up to `batch` deliveries to webhooks that have been removed. Returns their number. */
export function pruneFormerDeliveries(db: Database, _now: Date, batch: number): Promise<number> {
  return cleanupStore.deleteFormerDeliveries(db, batch)
}

/** Marks up to `batch` deliveries that wait for disabled webhooks as failed. Returns their number. */
export function failDeliveriesOfDisabled(db: Database, _now: Date, batch: number): Promise<number> {
  return cleanupStore.failDeliveriesOfDisabled(db, batch)
}
