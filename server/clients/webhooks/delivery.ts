import { randomUUIDv7 } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { WebhookDelivery, WebhookFault } from '@countersign/protocol/clients/webhooks'
import { readApp } from '#clients/registration/app.ts'
import { stewardTransaction, byline, type Sought } from '#clients/registration/steward.ts'
import { record } from '#platform/audit/audit.ts'
import { secondsAfter } from '#platform/clock.ts'
import { afterCommit, type Database, type Transaction } from '#platform/database/database.ts'
import type { Kernel } from '#platform/module/services.ts'
import { refusals } from '#platform/refusal.ts'
import { ringBell } from './bell.ts'
import * as deliveryStore from './delivery-store.ts'
import type { Delivery } from './delivery-store.ts'
import * as store from './store.ts'

const refuse = refusals({
  webhook_not_found: [404, 'This app has no webhook.'],
  webhook_not_active: [409, 'The app or its webhook is disabled: enable the app, or set the webhook again.'],
  delivery_not_found: [404, 'This app has no such delivery.'],
  delivery_not_failed: [409, 'It has arrived, or is still to be sent: only what was given up is sent again.'],
})

/** What an app may hear of; the words are a part of the interface. */
export type WebhookType = 'signing.signed' | 'signing.denied' | 'signing.expired' | 'webhook.test'

export type WebhookEvent = { clientId: string; type: WebhookType; data: Record<string, unknown> }

/**
 * Tells apps what happened, those that want to hear of it: each delivery is a row of the transaction, and is sent as
 * soon as that is committed. Answers the ids of the deliveries: an app that has no webhook, or is disabled, gets none.
 */
export async function enqueueWebhooks(tx: Transaction, events: WebhookEvent[], now: Date): Promise<string[]> {
  if (events.length === 0) return []
  const deliveries = events.map(({ clientId, type, data }) => ({
    clientId,
    deliveryId: randomUUIDv7(),
    type,
    payload: JSON.stringify({ type, timestamp: now.toISOString(), data }),
  }))
  const deliveryIds = await store.insertDeliveries(tx, deliveries, now)
  if (deliveryIds.length > 0) afterCommit(tx, ringBell)
  return deliveryIds
}

/**
 * Sends an app an event of no meaning. Refuses `app_not_found`, `webhook_not_found`, `webhook_not_active`,
 * `rate_limited`.
 */
export async function testWebhook(
  { db, rateLimits }: Pick<Kernel, 'db' | 'rateLimits'>,
  { steward, clientId: named }: Sought,
  now: Date,
): Promise<string> {
  const { clientId } = await readApp(db, { steward, clientId: named })
  if (!(await store.findEndpoint(db, clientId))) throw refuse.webhook_not_found()
  await rateLimits.count('webhook test of an app', clientId)
  const event: WebhookEvent = { clientId, type: 'webhook.test', data: { clientId } }
  const [deliveryId] = await stewardTransaction(db, steward, (tx) => enqueueWebhooks(tx, [event], now))
  if (deliveryId === undefined) throw refuse.webhook_not_active()
  return deliveryId
}

/**
 * Sends what was given up once more, under its id: at most once where several ask at the same time. If that fails too,
 * what is left of its attempts follows. Refuses `app_not_found`, `webhook_not_found`, `delivery_not_found`,
 * `delivery_not_failed`, `webhook_not_active`.
 */
export async function sendAgain(
  db: Database,
  { steward, clientId, deliveryId }: Sought & { deliveryId: string },
  now: Date,
): Promise<WebhookDelivery> {
  await readApp(db, { steward, clientId })
  return stewardTransaction(db, steward, async (tx) => {
    const delivery = await store.reviveDelivery(tx, clientId, deliveryId, now)
    if (!delivery) throw await refusalToSend(tx, clientId, deliveryId)
    await record(tx, { action: 'app.webhook_sent_again', ...byline(steward), clientId, details: { deliveryId } }, now)
    afterCommit(tx, ringBell)
    return toDelivery(delivery, await deliveryStore.listAttempts(tx, clientId, deliveryId))
  })
}

/** Why a delivery was not revived. */
async function refusalToSend(tx: Transaction, clientId: string, deliveryId: string) {
  if (!(await store.findEndpoint(tx, clientId))) return refuse.webhook_not_found()
  const state = await store.findState(tx, clientId, deliveryId)
  if (state === undefined) return refuse.delivery_not_found()
  return state === 'failed' ? refuse.webhook_not_active() : refuse.delivery_not_failed()
}

type Page = { before: string | undefined; count: number }

/** What an app was sent, the newest first. Refuses `app_not_found`, `webhook_not_found`. */
export async function listDeliveries(db: Database, sought: Sought, { before, count }: Page) {
  const { clientId } = await readApp(db, sought)
  if (!(await store.findEndpoint(db, clientId))) throw refuse.webhook_not_found()
  // One more than asked tells that there is a next page.
  const found = await deliveryStore.listDeliveries(db, clientId, before, count + 1)
  const each = [...Map.groupBy(found, ({ deliveryId }) => deliveryId).values()]
  const deliveries = each.slice(0, count).flatMap((rows) => (rows[0] ? [toDelivery(rows[0], rows)] : []))
  return { deliveries, nextCursor: each.length > count ? (deliveries.at(-1)?.deliveryId ?? null) : null }
}

type Attempt = Pick<store.Outcome, 'status' | 'reason'> & { at: Date | null }

function toDelivery({ deliveryId, type, state, createdAt, dueAt }: Delivery, attempts: Attempt[]): WebhookDelivery {
  return {
    deliveryId,
    type,
    state,
    createdAt: createdAt.toISOString(),
    nextAttemptAt: dueAt && dueAt.toISOString(),
    attempts: attempts.flatMap(({ at, status, reason }) =>
      at ? [{ at: at.toISOString(), status, reason: faultOf(reason) }] : [],
    ),
  }
}

/** What the owner of a webhook learns of a reason: nothing of names, addresses and ports of the operator's network. */
function faultOf(reason: string | null): WebhookFault | null {
  if (reason === null || reason === 'timed_out' || reason === 'app_disabled' || reason === 'not_signed') return reason
  return 'could_not_connect'
}

/** Deletes up to `batch` deliveries that are too old to be of interest, and says how many. */
export function pruneDeliveries(db: Database, now: Date, batch: number): Promise<number> {
  return store.deleteDeliveries(db, secondsAfter(now, -limits.webhookDeliveryKeptSeconds), batch)
}
