import type { WebhookDelivery } from '@countersign/protocol/clients/webhooks'
import { auditFieldsOf, type Operator, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { enqueueServiceTest, listDeliveriesTo, requeue } from '../delivery.ts'
import { replaceSecret } from '../secret.ts'
import { mailChange } from './change-mail.ts'
import { countChange, originOf, requireWebhook } from './webhook.ts'

const errors = defineErrors({ webhook_disabled: [409, 'The webhook is disabled.'] })

/** Sends a test event to a webhook of the service. Throws `webhook_not_found`, `webhook_disabled` or `rate_limited`. */
export async function sendTestEvent(
  kernel: ServerContext,
  operator: Operator,
  webhookId: string,
  now: Date,
): Promise<string> {
  const { db } = kernel
  await requireWebhook(db, webhookId)
  await countChange(kernel, operator)
  const deliveryId = await operatorTransaction(db, operator, (tx) => enqueueServiceTest(tx, webhookId, now))
  if (deliveryId === undefined) throw errors.webhook_disabled()
  return deliveryId
}

/**
 * Creates a new secret of a webhook and returns it only here. Earlier secrets sign too for `graceSeconds`. Throws
 * `webhook_not_found`, `too_many_secrets` or `rate_limited`.
 */
export async function rotateSecret(
  kernel: ServerContext,
  operator: Operator,
  { webhookId, graceSeconds }: { webhookId: string; graceSeconds: number },
  now: Date,
): Promise<{ secret: string; previousUntil: Date }> {
  const { db, keyring } = kernel
  const { url } = await requireWebhook(db, webhookId)
  await countChange(kernel, operator)
  const replaced = await operatorTransaction(db, operator, async (tx) => {
    const created = await replaceSecret(tx, keyring, { receiverId: webhookId, graceSeconds }, now)
    const details = { webhookId, graceSeconds }
    await recordAuditEvent(tx, { action: 'webhook.secret_rotated', ...auditFieldsOf(operator), details }, now)
    return created
  })
  await mailChange(kernel, originOf(url), now)
  return replaced
}

type Page = { before: string | undefined; count: number }

/** Lists the deliveries of a webhook of the service, newest first. Throws `webhook_not_found`. */
export async function listDeliveries(db: Database, webhookId: string, page: Page) {
  await requireWebhook(db, webhookId)
  return listDeliveriesTo(db, webhookId, page)
}

/**
 * Redelivers a failed event under its ID. Throws `webhook_not_found`, `delivery_not_found`,
 * `delivery_not_redeliverable`, `webhook_disabled` or `rate_limited`.
 */
export async function redeliver(
  kernel: ServerContext,
  operator: Operator,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
  now: Date,
): Promise<WebhookDelivery> {
  await requireWebhook(kernel.db, webhookId)
  await countChange(kernel, operator)
  return operatorTransaction(kernel.db, operator, async (tx) => {
    const delivery = await requeue(tx, { receiverId: webhookId, deliveryId }, now)
    const details = { webhookId, deliveryId }
    await recordAuditEvent(tx, { action: 'webhook.redelivered', ...auditFieldsOf(operator), details }, now)
    return delivery
  })
}
