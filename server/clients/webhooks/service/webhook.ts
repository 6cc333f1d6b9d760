import { randomUUID } from 'node:crypto'
import { limits } from '@countersign/protocol/formats/limits'
import type { ServiceWebhook } from '@countersign/protocol/clients/service-webhooks'
import { auditFieldsOf, type Operator, operatorKeyOf, operatorTransaction } from '#accounts/operators/operator-guard.ts'
import { defineErrors } from '#platform/api-error.ts'
import { recordAuditEvent } from '#platform/audit/audit-log.ts'
import type { Database } from '#platform/database/database.ts'
import type { ServerContext } from '#platform/module/services.ts'
import { toAttempt } from '../delivery.ts'
import { createSecret } from '../secret.ts'
import { failPendingDeliveries } from '../cleanup-store.ts'
import { deleteEndpoint } from '../store.ts'
import { mailChange } from './change-mail.ts'
import * as store from './store.ts'
import type { ServiceWebhookRow } from './store.ts'

const errors = defineErrors({
  invalid_request: [400, 'The webhook url is not allowed.'],
  webhook_not_found: [404, 'No webhook has this ID.'],
  too_many_webhooks: [409, `There can be at most ${limits.serviceWebhooksMax} webhooks.`],
})

export async function listWebhooks(db: Database): Promise<ServiceWebhook[]> {
  return (await store.listWebhooks(db)).map(toWebhook)
}

/** Returns a webhook of the service. Throws `webhook_not_found`. */
export async function getWebhook(db: Database, webhookId: string): Promise<ServiceWebhook> {
  return toWebhook(await requireWebhook(db, webhookId))
}

type Requested = { url: string; events?: string[] }

/**
 * Adds a webhook of the service, which gets the events from now on. The answer alone contains its secret. Throws
 * `invalid_request`, `too_many_webhooks` or `rate_limited`.
 */
export async function createWebhook(
  kernel: ServerContext,
  operator: Operator,
  { url, events = [] }: Requested,
  now: Date,
): Promise<{ webhook: ServiceWebhook; secret: string }> {
  const { db, keyring } = kernel
  requireTarget(kernel, url)
  await countChange(kernel, operator)
  const webhookId = randomUUID()
  const secret = await operatorTransaction(db, operator, async (tx) => {
    const row = { webhookId, url, eventTypes: events }
    if (!(await store.insertWebhook(tx, row, { max: limits.serviceWebhooksMax, now }))) throw errors.too_many_webhooks()
    const details = { webhookId, origin: originOf(url), events }
    await recordAuditEvent(tx, { action: 'webhook.created', ...auditFieldsOf(operator), details }, now)
    return createSecret(tx, keyring, webhookId, now)
  })
  await mailChange(kernel, originOf(url), now)
  return { webhook: await getWebhook(db, webhookId), secret }
}

type Change = { url?: string; events?: string[]; status?: ServiceWebhook['status'] }

/**
 * Changes a webhook of the service. A disabled one gets no events, also not later. Its pending deliveries fail; of
 * more than 1,000, the cleanup fails the rest. Throws `webhook_not_found`, `invalid_request` or `rate_limited`.
 */
export async function updateWebhook(
  kernel: ServerContext,
  operator: Operator,
  { webhookId, ...change }: Change & { webhookId: string },
  now: Date,
): Promise<ServiceWebhook> {
  const { db } = kernel
  const { url, events, status } = change
  const before = await requireWebhook(db, webhookId)
  if (url !== undefined) requireTarget(kernel, url)
  await countChange(kernel, operator)
  await operatorTransaction(db, operator, async (tx) => {
    const fields = {
      ...(url !== undefined && { url }),
      ...(events && { eventTypes: events }),
      ...(status && { isDisabled: status === 'disabled' }),
    }
    if (!(await store.updateWebhook(tx, webhookId, fields, now))) throw errors.webhook_not_found()
    if (status === 'disabled') await failPendingDeliveries(tx, webhookId)
    const details = { webhookId, origin: originOf(url ?? before.url), changed: Object.keys(change) }
    await recordAuditEvent(tx, { action: 'webhook.updated', ...auditFieldsOf(operator), details }, now)
  })
  await mailChange(kernel, originOf(before.url), now)
  return getWebhook(db, webhookId)
}

/** Removes a webhook of the service, with its secrets and deliveries. Throws `webhook_not_found` or `rate_limited`. */
export async function removeWebhook(
  kernel: ServerContext,
  operator: Operator,
  webhookId: string,
  now: Date,
): Promise<void> {
  const { db } = kernel
  const origin = originOf((await requireWebhook(db, webhookId)).url)
  await countChange(kernel, operator)
  await operatorTransaction(db, operator, async (tx) => {
    if (!(await deleteEndpoint(tx, webhookId))) throw errors.webhook_not_found()
    const details = { webhookId, origin }
    await recordAuditEvent(tx, { action: 'webhook.deleted', ...auditFieldsOf(operator), details }, now)
  })
  await mailChange(kernel, origin, now)
}

/** Returns a webhook of the service; those of apps are not among them. Throws `webhook_not_found`. */
export async function requireWebhook(db: Database, webhookId: string): Promise<ServiceWebhookRow> {
  const row = await store.findWebhook(db, webhookId)
  if (!row) throw errors.webhook_not_found()
  return row
}

function requireTarget({ outbound }: ServerContext, url: string): void {
  const objection = outbound.ofOperator.objectionTo(url)
  if (objection !== undefined) throw errors.invalid_request({ sentence: `url ${objection}.` })
}

export async function countChange({ rateLimits }: ServerContext, operator: Operator): Promise<void> {
  await rateLimits.count('webhook-changes-per-operator', operatorKeyOf(operator))
}

/** The path can be a secret of the receiver. */
export function originOf(url: string): string {
  return new URL(url).origin
}

function toWebhook({ webhookId, url, eventTypes, disabledAt, createdAt, updatedAt, ...last }: ServiceWebhookRow) {
  return {
    webhookId,
    url,
    events: eventTypes,
    status: disabledAt ? 'disabled' : 'active',
    lastAttempt: toAttempt(last)[0] ?? null,
    createdAt: createdAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  } satisfies ServiceWebhook
}
